// One launch: its cores, their flags, and which thread runs them.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "ascendc/twin/core.h"
#include "ascendc/twin/fiber.h"
#include "ascendc/twin/launch.h"
#include "ascendc/twin/memory.h"

namespace ascendc {

constexpr uint32_t kFlags = 16;
constexpr uint32_t kModes = 3;
constexpr uint32_t kFlagLimit = 15;   // the chip counts in four bits

struct Run;
struct Worker;

enum class CoreState : uint8_t { WAITING_TO_START, READY, BLOCKED, ENDED };

// One core of a launch. Everything but `core` and `fiber` is guarded by Run::mutex.
struct CoreRun {
    Core core{};
    Fiber fiber;
    CoreRoom *room = nullptr;
    Run *run = nullptr;
    Worker *worker = nullptr;
    CoreState state = CoreState::WAITING_TO_START;
    bool cancelled = false;
    uint16_t flags[kFlags] = {};             // raised for this core and not yet waited for
    uint16_t sent[kModes][kFlags] = {};      // set by this core, not yet matched by the others of its group
    uint32_t waitFlag = 0, waitMode = 0;

    bool isAic() const { return core.aic != 0; }
};

// A thread's share of a launch.
struct Worker {
    std::deque<CoreRun *> ready;
    std::vector<CoreRun *> alive;
    std::condition_variable wake;
    CoreRooms *rooms = nullptr;
    uint32_t block = 0; // of the core that ran last

    CoreRun *Next(); // takes a core out of `ready`, which is not empty
};

struct Run {
    LaunchConfig config;
    const std::function<void()> *body = nullptr;
    std::mutex mutex;
    std::condition_variable helperLeft;
    std::vector<std::unique_ptr<CoreRun>> cores;   // block by block, the AIC first
    std::vector<Worker *> workers;
    uint32_t coresPerBlock = 1;
    uint32_t aivPerBlock = 1;
    bool hasAic = false;
    uint32_t nextBlock = 0;
    uint32_t runnable = 0;          // cores that are ready or running
    uint32_t helpers = 0;
    bool closed = false;
    bool failed = false;
    uint32_t failedCore = 0;        // position in `cores`
    LaunchResult result;
    uint32_t senders[2][kFlags] = {};   // mode 0: cores of a kind (AIV, AIC) that have set the flag

    void Work();
    void Help();

    // With the mutex held:
    void StartBlock(Worker &worker);
    void Cancel();
    void Record(const CoreRun &core, Fault fault, const std::string &text);
    void ReportDeadlock();
    void Send(CoreRun &sender, uint32_t mode, uint32_t flag);
    void Raise(CoreRun &receiver, uint32_t flag);
    std::string Missing(const CoreRun &waiting) const;

    CoreRun &CoreOf(uint32_t block, uint32_t position) { return *cores[block * coresPerBlock + position]; }
    uint32_t IndexOf(const CoreRun &core) const;
};

std::string CoreName(const Core &core);

} // namespace ascendc
