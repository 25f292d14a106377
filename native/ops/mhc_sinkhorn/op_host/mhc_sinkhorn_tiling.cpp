#include "ops/mhc_sinkhorn/op_host/mhc_sinkhorn_tiling.h"

#include <algorithm>

namespace ops {
namespace {

constexpr uint64_t kFewestLanes = 16; // tokens that a transposition takes at a time
constexpr uint64_t kMostLanes = 64;   // floats of a vector repeat

// Bytes of unified buffer; mirrors Init of the kernel and of its slots.
uint64_t Bytes(uint64_t n, uint64_t lanes, bool slots)
{
    const uint64_t cells = n * n;
    const uint64_t in = 2 * AlignUp(cells, 8);
    const uint64_t out = 2 * AlignUp(cells, 16);
    const uint64_t planes = AlignUp(cells, 8) + cells + 2 * n;
    const uint64_t slot = slots ? 2 * n * 8 + 2 * 2 * 8 + 1 : 0;
    return (in + out + planes + slot) * lanes * sizeof(float);
}

} // namespace

Tiling<MhcSinkhornTilingData> TileMhcSinkhorn(const MhcSinkhornArguments &a, const TilingPlatform &platform)
{
    Tiling<MhcSinkhornTilingData> tiling;
    const uint64_t cores = platform.aivCores;
    if (cores == 0 || a.tokens == 0) {
        tiling.error =
            "nothing to split: " + std::to_string(a.tokens) + " tokens, " + std::to_string(cores) + " vector cores";
        return tiling;
    }
    tiling.key = a.slots ? 1 : 0;
    if (a.key.value_or(tiling.key) != tiling.key) {
        tiling.error =
            "there is no tiling key " + std::to_string(*a.key) + " for this call, only " + std::to_string(tiling.key);
        return tiling;
    }
    uint64_t lanes = kMostLanes;
    while (lanes > kFewestLanes &&
           (lanes / 2 >= CeilDiv(a.tokens, cores) || Bytes(a.streams, lanes, a.slots) > platform.ubSize)) {
        lanes /= 2;
    }
    if (Bytes(a.streams, lanes, a.slots) > platform.ubSize) {
        tiling.error = "the unified buffer of " + std::to_string(platform.ubSize) + " bytes is too small";
        return tiling;
    }
    tiling.data.tokens = a.tokens;
    tiling.data.streams = static_cast<uint32_t>(a.streams);
    tiling.data.numIters = a.numIters;
    tiling.data.lanes = static_cast<uint32_t>(lanes);
    tiling.data.eps = a.eps;
    tiling.blockDim = static_cast<uint32_t>(std::min(cores, CeilDiv(a.tokens, kFewestLanes)));
    tiling.workspaceSize = 0; // vector kernels without synchronisation need none
    return tiling;
}

} // namespace ops
