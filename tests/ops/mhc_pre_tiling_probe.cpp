// The tiling function of MhcPre behind a C function, for ctypes.
#include <cstring>

#include "ops/mhc_pre/op_host/mhc_pre_tiling.h"

struct ProbeResult {
    MhcPreTilingData data;
    uint64_t key;
    uint64_t blockDim;
    uint64_t workspaceSize;
};

// key < 0 lets the tiling choose. Returns 1 and fills `error` when the tiling refuses.
extern "C" int probe(uint64_t tokens, uint64_t streams, uint64_t tail, int hasRes, int hf32, int key, uint32_t aic, uint64_t ub,
                     ProbeResult *result, char *error, size_t errorSize)
{
    ops::MhcPreArguments arguments{tokens, streams, tail, hasRes != 0, true, true, hf32 != 0, 1e-6, 1e-6, {}};
    if (key >= 0) {
        arguments.key = static_cast<uint64_t>(key);
    }
    const ops::TilingPlatform platform{3510, aic, 2 * aic, ub, 512 << 10, 64 << 10, 64 << 10, 128 << 10, 16 << 20};
    const auto tiling = ops::TileMhcPre(arguments, platform);
    *result = {tiling.data, tiling.key, tiling.blockDim, tiling.workspaceSize};
    std::strncpy(error, tiling.error.c_str(), errorSize - 1);
    return tiling.error.empty() ? 0 : 1;
}
