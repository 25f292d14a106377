// Cross-core flags, deadlock and who waits for whom.
#include "ascendc/twin/fault.h"
#include "ascendc/twin/scheduler.h"

namespace ascendc {
namespace {

CoreRun &Self()
{
    return *static_cast<CoreRun *>(t_core->fiber);
}

const char *FlagUse(uint32_t flag)
{
    return flag >= 11 && flag <= 14 ? " (used by SyncAll)" : "";
}

} // namespace

void Run::Raise(CoreRun &receiver, uint32_t flag)
{
    if (receiver.flags[flag] >= kFlagLimit) {
        Fail("CrossCoreSetFlag: flag %u of %s has been raised %u times without a wait, which is all that its counter holds", flag,
             CoreName(receiver.core).c_str(), kFlagLimit);
    }
    ++receiver.flags[flag];
    if (receiver.state == CoreState::BLOCKED && receiver.waitFlag == flag) {
        --receiver.flags[flag];
        receiver.state = CoreState::READY;
        ++runnable;
        receiver.worker->ready.push_back(&receiver);
        receiver.worker->wake.notify_one();
    }
}

// A flag reaches its receivers when every core of the sending group has set it as often: each set of one core matches one set
// of every other core, however far they have drifted apart.
void Run::Send(CoreRun &sender, uint32_t mode, uint32_t flag)
{
    const uint32_t block = sender.core.block;
    const uint32_t firstAiv = hasAic ? 1 : 0;
    if (mode == 0) {
        const uint32_t kind = sender.isAic() ? 1 : 0;
        const uint32_t group = config.blockDim * (sender.isAic() ? 1 : aivPerBlock);
        if (sender.sent[0][flag]++ == 0) {
            ++senders[kind][flag];
        }
        while (senders[kind][flag] == group) {
            for (auto &core : cores) {
                if (core->isAic() != sender.isAic()) {
                    continue;
                }
                if (--core->sent[0][flag] == 0) {
                    --senders[kind][flag];
                }
            }
            for (auto &core : cores) {
                if (core->isAic() == sender.isAic()) {
                    Raise(*core, flag);
                }
            }
        }
        return;
    }
    if (mode == 2 && sender.isAic()) {
        for (uint32_t sub = 0; sub < aivPerBlock; ++sub) {
            Raise(CoreOf(block, firstAiv + sub), flag);
        }
        return;
    }
    ++sender.sent[mode][flag];
    for (uint32_t sub = 0; sub < aivPerBlock; ++sub) {
        if (CoreOf(block, firstAiv + sub).sent[mode][flag] == 0) {
            return;
        }
    }
    for (uint32_t sub = 0; sub < aivPerBlock; ++sub) {
        --CoreOf(block, firstAiv + sub).sent[mode][flag];
    }
    if (mode == 2) {
        Raise(CoreOf(block, 0), flag);
    } else {
        for (uint32_t sub = 0; sub < aivPerBlock; ++sub) {
            Raise(CoreOf(block, firstAiv + sub), flag);
        }
    }
}

// Names the cores that could raise the flag `waiting` waits for and have not.
std::string Run::Missing(const CoreRun &waiting) const
{
    const uint32_t flag = waiting.waitFlag;
    const uint32_t first = waiting.core.block * coresPerBlock;
    uint32_t mode = waiting.waitMode;
    if (mode == 0) {
        // On this chip the wait does not say its mode. A sender that has come shows it; else a MIX kernel's pair is likely.
        const uint32_t kind = waiting.isAic() ? 1 : 0;
        bool pair = waiting.sent[1][flag] > 0;
        for (uint32_t i = 0; i < coresPerBlock; ++i) {
            pair = pair || cores[first + i]->sent[1][flag] > 0;
        }
        if (senders[kind][flag] > 0) {
            mode = 0;
        } else if (pair && !waiting.isAic()) {
            mode = 1;
        } else {
            mode = waiting.core.mix != 0 ? 2 : 0;
        }
    }
    std::string names;
    uint32_t count = 0;
    for (const auto &core : cores) {
        const bool sameBlock = core->core.block == waiting.core.block;
        bool wanted = false;
        if (mode == 0) {
            wanted = core->isAic() == waiting.isAic();
        } else if (mode == 1) {
            wanted = sameBlock && !core->isAic();
        } else {
            wanted = sameBlock && core->isAic() != waiting.isAic();
        }
        if (!wanted || core->sent[mode][flag] > 0) {
            continue;
        }
        if (++count > 4) {
            continue;
        }
        names += (count == 1 ? "" : ", ") + CoreName(core->core);
        names += core->state == CoreState::ENDED ? " (has ended)" : "";
    }
    if (count > 4) {
        names += Format(" and %u more", count - 4);
    }
    return names.empty() ? std::string("a core that does not exist") : names;
}

void Run::ReportDeadlock()
{
    const CoreRun *first = nullptr;
    std::string text;
    uint32_t count = 0;
    for (const auto &core : cores) {
        if (core->state != CoreState::BLOCKED) {
            continue;
        }
        if (first == nullptr) {
            first = core.get();
        }
        if (++count > 6) {
            continue;
        }
        text += Format("\n  %s waits for flag %u%s from ", CoreName(core->core).c_str(), core->waitFlag, FlagUse(core->waitFlag)) +
                Missing(*core);
    }
    if (count > 6) {
        text += Format("\n  and %u more", count - 6);
    }
    Record(*first, first->isAic() ? Fault::AIC_TIMEOUT : Fault::AIV_TIMEOUT,
           std::string(config.kernel) + ": deadlock: every core that has not ended waits for another" + text);
}

void SetCrossCoreFlag(uint32_t mode, uint32_t flag)
{
    CoreRun &self = Self();
    Run &run = *self.run;
    if (self.core.unwinding != 0) {
        return;
    }
    if (flag >= kFlags) {
        Fail("CrossCoreSetFlag: flag %u does not exist, there are 0 to %u", flag, kFlags - 1);
    }
    if (mode > 2) {
        Fail("CrossCoreSetFlag: mode %u does not exist on this chip, there are 0, 1 and 2", mode);
    }
    if (mode != 0 && self.core.mix == 0) {
        Fail("CrossCoreSetFlag: mode %u needs a MIX kernel", mode);
    }
    if (mode == 1 && self.isAic()) {
        Fail("CrossCoreSetFlag: mode 1 is between the AIVs of a block, an AIC cannot use it");
    }
    std::lock_guard<std::mutex> lock(run.mutex);
    run.Send(self, mode, flag);
}

void WaitCrossCoreFlag(uint32_t mode, uint32_t flag)
{
    CoreRun &self = Self();
    Run &run = *self.run;
    if (self.core.unwinding != 0) {
        return;
    }
    if (flag >= kFlags) {
        Fail("CrossCoreWaitFlag: flag %u does not exist, there are 0 to %u", flag, kFlags - 1);
    }
    bool cancelled = false;
    {
        std::lock_guard<std::mutex> lock(run.mutex);
        if (self.flags[flag] > 0) {
            --self.flags[flag];
            return;
        }
        cancelled = run.failed;
        if (!cancelled) {
            self.state = CoreState::BLOCKED;
            self.waitFlag = flag;
            self.waitMode = mode;
            --run.runnable;
        }
    }
    if (!cancelled) {
        self.fiber.Leave();   // another thread may make this core ready already, but only this one enters it
        cancelled = self.cancelled;
    }
    if (cancelled) {
        self.core.unwinding = 1;
        throw Cancelled{};
    }
}

namespace {
std::mutex g_atomics;
} // namespace

void LockAtomics()
{
    g_atomics.lock();
}

void UnlockAtomics()
{
    g_atomics.unlock();
}

} // namespace ascendc
