#include "ascendc/twin/scheduler.h"

#include <algorithm>
#include <exception>

#include "ascendc/twin/fault.h"
#include "ascendc/twin/workers.h"

namespace ascendc {

ASCENDC_TLS Core *t_core = nullptr;

std::string CoreName(const Core &core)
{
    if (core.mix == 0 || core.aic != 0) {
        return Format("%s %u (block %u)", core.aic != 0 ? "AIC" : "AIV", core.blockIdx, core.block);
    }
    return Format("AIV %u (block %u, sub-block %u)", core.blockIdx, core.block, core.subBlock);
}

uint32_t Run::IndexOf(const CoreRun &core) const
{
    const uint32_t position = core.isAic() ? 0 : core.core.subBlock + (hasAic ? 1 : 0);
    return core.core.block * coresPerBlock + position;
}

namespace {

void InitCore(Core &core, const Run &run, uint32_t block, uint32_t position)
{
    const LaunchConfig &config = run.config;
    core.kernel = config.kernel;
    core.tilingKey = config.tilingKey;
    core.npuArch = config.npuArch;
    core.mix = run.hasAic && run.aivPerBlock > 0 ? 1 : 0;
    core.aic = run.hasAic && position == 0 ? 1 : 0;
    core.block = block;
    core.blockNum = config.blockDim;
    core.ratio = run.aivPerBlock == 0 ? 1 : run.aivPerBlock;
    core.subBlock = core.aic != 0 || !run.hasAic ? 0 : position - 1;
    core.blockIdx = core.aic != 0 ? block : block * core.ratio + core.subBlock;
    core.ubUsable = config.memory.ub - std::min(config.memory.ub, config.memory.ubReserved);
    core.maskLow = core.maskHigh = ~uint64_t{0};
    core.deqScale = 1.0f;
}

void Enter(void *argument)
{
    auto *self = static_cast<CoreRun *>(argument);
    Run &run = *self->run;
    Fault fault = Fault::NONE;
    std::string text;
    try {
        (*run.body)();
    } catch (const KernelFault &caught) {
        fault = self->isAic() ? (caught.timeout ? Fault::AIC_TIMEOUT : Fault::AIC_EXCEPTION)
                              : (caught.timeout ? Fault::AIV_TIMEOUT : Fault::AIV_EXCEPTION);
        text = caught.text;
    } catch (const Cancelled &) {
    } catch (const std::exception &caught) {
        fault = self->isAic() ? Fault::AIC_EXCEPTION : Fault::AIV_EXCEPTION;
        text = std::string("C++ exception: ") + caught.what();
    } catch (...) {
        fault = self->isAic() ? Fault::AIC_EXCEPTION : Fault::AIV_EXCEPTION;
        text = "unknown C++ exception";
    }
    std::lock_guard<std::mutex> lock(run.mutex);
    if (fault != Fault::NONE) {
        run.Record(*self, fault, std::string(run.config.kernel) + ": " + CoreName(self->core) + ": " + text);
    }
}

} // namespace

// The first core in block order that failed names the launch's fault, so that one thread or four report the same one when
// several cores run into the same mistake.
void Run::Record(const CoreRun &core, Fault fault, const std::string &text)
{
    const uint32_t index = IndexOf(core);
    if (failed && failedCore <= index) {
        return;
    }
    failedCore = index;
    result.fault = fault;
    result.message = text;
    Cancel();
}

void Run::Cancel()
{
    failed = true;
    for (Worker *worker : workers) {
        for (CoreRun *core : worker->alive) {
            if (core->state == CoreState::BLOCKED) {
                core->cancelled = true;
                core->state = CoreState::READY;
                worker->ready.push_back(core);
                ++runnable;
            }
        }
        worker->wake.notify_one();
    }
}

void Run::StartBlock(Worker &worker)
{
    const uint32_t block = nextBlock++;
    for (uint32_t position = 0; position < coresPerBlock; ++position) {
        CoreRun &core = CoreOf(block, position);
        core.room = worker.rooms->Take();
        core.worker = &worker;
        core.core.fiber = &core;
        for (uint32_t memory = 0; memory < kMemories; ++memory) {
            core.core.memory[memory] = core.room->memory[memory];
            core.core.memorySize[memory] = core.room->memorySize[memory];
        }
        core.core.scratch = core.room->scratch;
        core.core.scratchFloats = core.room->scratchFloats;
        core.fiber.Prepare(core.room->stack, core.room->stackBytes, Enter, &core);
        core.state = CoreState::READY;
        worker.ready.push_back(&core);
        worker.alive.push_back(&core);
        ++runnable;
    }
}

// A core of the block that ran last if there is one: its memory is in the caches, that of a dozen blocks is not.
CoreRun *Worker::Next()
{
    auto next = std::find_if(ready.begin(), ready.end(), [this](const CoreRun *core) { return core->core.block == block; });
    next = next == ready.end() ? ready.begin() : next;
    CoreRun *core = *next;
    ready.erase(next);
    block = core->core.block;
    return core;
}

void Run::Work()
{
    CoreRooms rooms(config.memory);
    Worker worker;
    worker.rooms = &rooms;
    std::unique_lock<std::mutex> lock(mutex);
    workers.push_back(&worker);
    for (;;) {
        if (!worker.ready.empty()) {
            CoreRun *core = worker.Next();
            lock.unlock();
            Core *before = t_core;
            t_core = &core->core;
            core->fiber.Enter();
            t_core = before;
            lock.lock();
            if (core->fiber.ended()) {
                core->state = CoreState::ENDED;
                --runnable;
                rooms.Return(core->room);
                core->room = nullptr;
                worker.alive.erase(std::find(worker.alive.begin(), worker.alive.end(), core));
            }
            continue;
        }
        // Only when every core started here has ended or waits: one block's memory is hot, and cores that need each other run.
        if (!failed && nextBlock < config.blockDim) {
            try {
                StartBlock(worker);
            } catch (const std::bad_alloc &) {
                failed = true;
                result.fault = hasAic ? Fault::AIC_EXCEPTION : Fault::AIV_EXCEPTION;
                result.message = std::string(config.kernel) + ": out of memory for the emulated cores";
                Cancel();
            }
            continue;
        }
        if (worker.alive.empty()) {
            break;
        }
        if (runnable == 0) {
            ReportDeadlock();
            continue;
        }
        worker.wake.wait(lock);
    }
    workers.erase(std::find(workers.begin(), workers.end(), &worker));
    // The end of this thread's last core may be what makes the others' wait hopeless.
    if (runnable == 0) {
        for (Worker *other : workers) {
            other->wake.notify_one();
        }
    }
}

void Run::Help()
{
    {
        std::lock_guard<std::mutex> lock(mutex);
        if (closed || failed || nextBlock >= config.blockDim) {
            return;
        }
        ++helpers;
    }
    Work();
    std::lock_guard<std::mutex> lock(mutex);
    --helpers;
    helperLeft.notify_all();
}

LaunchResult Launch(const LaunchConfig &config, const std::function<void()> &body)
{
    auto run = std::make_shared<Run>();
    run->config = config;
    run->body = &body;
    switch (config.taskType) {
        case TaskType::AIV_ONLY: run->hasAic = false; run->aivPerBlock = 1; break;
        case TaskType::AIC_ONLY: run->hasAic = true; run->aivPerBlock = 0; break;
        case TaskType::MIX_AIC_1_1: run->hasAic = true; run->aivPerBlock = 1; break;
        case TaskType::MIX_AIC_1_2: run->hasAic = true; run->aivPerBlock = 2; break;
    }
    if (config.blockDim == 0) {
        return {run->hasAic ? Fault::AIC_EXCEPTION : Fault::AIV_EXCEPTION,
                std::string(config.kernel) + ": the block dim is 0, it must be at least 1"};
    }
    run->coresPerBlock = run->aivPerBlock + (run->hasAic ? 1 : 0);
    run->cores.reserve(static_cast<size_t>(config.blockDim) * run->coresPerBlock);
    for (uint32_t block = 0; block < config.blockDim; ++block) {
        for (uint32_t position = 0; position < run->coresPerBlock; ++position) {
            run->cores.push_back(std::make_unique<CoreRun>());
            run->cores.back()->run = run.get();
            InitCore(run->cores.back()->core, *run, block, position);
        }
    }
    const uint32_t threads = std::min(std::max(config.threads, 1u), config.blockDim);
    if (threads > 1) {
        auto request = std::make_shared<std::function<void()>>([run] { run->Help(); });
        AskHelpers(request, threads - 1);
    }
    run->Work();
    std::unique_lock<std::mutex> lock(run->mutex);
    run->closed = true;
    run->helperLeft.wait(lock, [&run] { return run->helpers == 0; });
    return std::move(run->result);
}

} // namespace ascendc
