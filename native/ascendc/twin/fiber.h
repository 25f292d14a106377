// A stack that can be left and entered again. A fiber stays on the thread that starts it.
#pragma once

#include <ucontext.h>

#include <cstddef>
#include <cstdint>

namespace ascendc {

class Fiber {
public:
    using Entry = void (*)(void *argument);

    Fiber() = default;
    Fiber(const Fiber &) = delete;
    Fiber &operator=(const Fiber &) = delete;

    void Prepare(uint8_t *stack, size_t bytes, Entry entry, void *argument);
    void Enter();         // from the worker: runs the fiber until it leaves or ends
    void Leave();         // from the fiber: back to the worker
    bool ended() const { return ended_; }

private:
    static void Start(unsigned int high, unsigned int low);
    void ArriveInFiber();

    ucontext_t self_{};
    ucontext_t worker_{};
    uint8_t *stack_ = nullptr;
    size_t stackBytes_ = 0;
    Entry entry_ = nullptr;
    void *argument_ = nullptr;
    bool ended_ = false;
    // What the sanitizers want to know of each switch
    void *fiberFake_ = nullptr;
    void *workerFake_ = nullptr;
    const void *workerStack_ = nullptr;
    size_t workerStackBytes_ = 0;
    void *threadSanitizer_ = nullptr;
    void *threadSanitizerWorker_ = nullptr;
};

} // namespace ascendc
