// The tiling function of MhcPreSinkhornBackward behind a C function, for ctypes.
#include <cstring>

#include "ops/mhc_pre_sinkhorn_backward/op_host/mhc_pre_sinkhorn_backward_tiling.h"

struct ProbeResult {
    MhcPreSinkhornBackwardTilingData data;
    uint64_t key;
    uint64_t blockDim;
    uint64_t workspaceSize;
};

// key < 0 lets the tiling choose. Returns 1 and fills `error` when the tiling refuses.
extern "C" int probe(uint64_t tokens, uint32_t streams, uint64_t tail, int key, uint32_t aic, uint32_t aiv, uint64_t ub,
                     uint64_t l0c, ProbeResult *result, char *error, size_t errorSize)
{
    ops::MhcPreSinkhornBackwardArguments arguments{tokens, streams, tail, 20, 1e-6, {}};
    if (key >= 0) {
        arguments.key = static_cast<uint64_t>(key);
    }
    const ops::TilingPlatform platform{2201, aic, aiv, ub, 512 << 10, 64 << 10, 64 << 10, l0c, 16 << 20};
    const auto tiling = ops::TileMhcPreSinkhornBackward(arguments, platform);
    *result = {tiling.data, tiling.key, tiling.blockDim, tiling.workspaceSize};
    std::strncpy(error, tiling.error.c_str(), errorSize - 1);
    return tiling.error.empty() ? 0 : 1;
}
