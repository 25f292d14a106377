#include "ops/mhc_pre_sinkhorn/op_host/mhc_pre_sinkhorn_tiling.h"

#include "ops/mhc_common/op_host/mhc_projection_tiling.h"

namespace ops {
namespace {

constexpr uint64_t kStreams = 4;                              // n
constexpr uint64_t kMix = kStreams * kStreams + 2 * kStreams; // rows of phi

} // namespace

Tiling<MhcPreSinkhornTilingData> TileMhcPreSinkhorn(const MhcPreSinkhornArguments &arguments, const TilingPlatform &platform)
{
    MhcProjectionArguments projection{};
    projection.tokens = arguments.tokens;
    projection.tail = arguments.tail;
    projection.streams = kStreams;
    projection.mix = kMix;
    projection.normEps = arguments.normEps;
    projection.split = arguments.key;
    const auto shared = TileMhcProjection(projection, platform);

    Tiling<MhcPreSinkhornTilingData> tiling;
    tiling.data.projection = shared.data;
    tiling.data.numIters = arguments.numIters;
    tiling.data.needBackward = arguments.needBackward ? 1 : 0;
    tiling.data.hcEps = static_cast<float>(arguments.hcEps);
    tiling.key = shared.key;
    tiling.blockDim = shared.blockDim;
    tiling.workspaceSize = shared.workspaceSize;
    tiling.error = shared.error;
    return tiling;
}

} // namespace ops
