// Runs an AscendC kernel on the CPU: cores as fibers over a few threads.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace ascendc {

enum class TaskType { AIV_ONLY, AIC_ONLY, MIX_AIC_1_1, MIX_AIC_1_2 };

// Memory of one core, bytes.
struct CoreMemory {
    uint32_t ub, ubReserved, l1, l0a, l0b, l0c, biasTable;
};

struct LaunchConfig {
    const char *kernel = "";   // name for error texts
    TaskType taskType = TaskType::AIV_ONLY;
    uint32_t blockDim = 1;     // AIC count for MIX and AIC_ONLY, AIV count for AIV_ONLY
    uint64_t tilingKey = 0;    // what TILING_KEY_IS compares with
    uint32_t npuArch = 2201;
    CoreMemory memory{};
    uint32_t threads = 1;      // worker threads; results never depend on it
};

enum class Fault { NONE, AIC_EXCEPTION, AIV_EXCEPTION, AIC_TIMEOUT, AIV_TIMEOUT };

struct LaunchResult {
    Fault fault = Fault::NONE;
    std::string message;       // which core, which instruction, what was wrong; or who waits for whom
};

// Calls `body` once on every core (each on its own fiber) and returns when all are done. An error in one core stops the others.
LaunchResult Launch(const LaunchConfig &config, const std::function<void()> &body);

} // namespace ascendc
