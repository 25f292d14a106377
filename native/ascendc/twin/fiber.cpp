#include "ascendc/twin/fiber.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace ascendc {

void Fiber::Prepare(uint8_t *stack, size_t bytes, Entry entry, void *argument)
{
    stack_ = stack;
    stackBytes_ = bytes;
    entry_ = entry;
    argument_ = argument;
    ended_ = false;
    getcontext(&self_);
    self_.uc_stack.ss_sp = stack;
    self_.uc_stack.ss_size = bytes;
    self_.uc_link = nullptr;
    const auto address = reinterpret_cast<uint64_t>(this);
    makecontext(&self_, reinterpret_cast<void (*)()>(&Fiber::Start), 2, static_cast<unsigned int>(address >> 32),
                static_cast<unsigned int>(address));
#if defined(__SANITIZE_THREAD__)
    threadSanitizer_ = __tsan_create_fiber(0);
#endif
}

void Fiber::Enter()
{
#if defined(__SANITIZE_THREAD__)
    threadSanitizerWorker_ = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(threadSanitizer_, 0);
#endif
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(&workerFake_, stack_, stackBytes_);
#endif
    swapcontext(&worker_, &self_);
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(workerFake_, nullptr, nullptr);
#endif
#if defined(__SANITIZE_THREAD__)
    if (ended_) {
        __tsan_destroy_fiber(threadSanitizer_);
    }
#endif
}

void Fiber::Leave()
{
#if defined(__SANITIZE_THREAD__)
    __tsan_switch_to_fiber(threadSanitizerWorker_, 0);
#endif
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(ended_ ? nullptr : &fiberFake_, workerStack_, workerStackBytes_);
#endif
    swapcontext(&self_, &worker_);
    ArriveInFiber();
}

void Fiber::ArriveInFiber()
{
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(fiberFake_, &workerStack_, &workerStackBytes_);
#endif
}

void Fiber::Start(unsigned int high, unsigned int low)
{
    auto *fiber = reinterpret_cast<Fiber *>((static_cast<uint64_t>(high) << 32) | low);
    fiber->ArriveInFiber();
    fiber->entry_(fiber->argument_);
    fiber->ended_ = true;
    fiber->Leave();
    __builtin_unreachable();
}

} // namespace ascendc
