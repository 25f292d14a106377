// What the emulated chip is: one row per SoC, chosen once per process.
#pragma once

#include <cstdint>

#include "runtime/export.h"

namespace aclemu {

struct Platform {
    const char *soc;          // "Ascend910B3", what aclrtGetSocName returns
    uint32_t npuArch;         // 2201 (910B, 910_93) or 3510 (950)
    uint32_t aicCores;        // cube cores
    uint32_t aivCores;        // vector cores
    uint64_t ubSize;          // bytes of unified buffer of one vector core
    uint64_t ubReserved;      // bytes at the end of UB that the API keeps for itself
    uint64_t l1Size;          // bytes, per cube core, as are the next four
    uint64_t l0aSize;
    uint64_t l0bSize;
    uint64_t l0cSize;
    uint64_t biasTableSize;
    uint64_t systemWorkspace; // bytes that GetLibApiWorkSpaceSize reports
    uint64_t l2Size;          // bytes, shared by all cores
};

// The SoC named by ACLEMU_SOC (default Ascend910B3) with the core count of ACLEMU_AICORES ("20", or "4:7" = 4 cube and 7
// vector cores). Read at the first call; throws std::invalid_argument naming the variable when a value is not valid.
ACLEMU_API const Platform &CurrentPlatform();

// Row of `soc`, or nullptr.
ACLEMU_API const Platform *FindPlatform(const char *soc);

// Threads that run the emulated cores: ACLEMU_THREADS, default the number of CPUs this process may use.
ACLEMU_API uint32_t WorkerThreads();

} // namespace aclemu
