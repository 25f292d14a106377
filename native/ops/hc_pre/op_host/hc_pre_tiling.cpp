#include "ops/hc_pre/op_host/hc_pre_tiling.h"

#include "ops/mhc_common/op_host/mhc_projection_tiling.h"

namespace ops {
namespace {

constexpr uint64_t kStreams = 4;
constexpr uint64_t kMixRows = kStreams * kStreams + 2 * kStreams;
constexpr uint64_t kMostTokensPerLoop = 32;

} // namespace

Tiling<HcPreTilingData> TileHcPre(const HcPreArguments &arguments, const TilingPlatform &platform)
{
    MhcProjectionArguments projection{};
    projection.tokens = arguments.tokens;
    projection.tail = arguments.tail;
    projection.streams = kStreams;
    projection.mix = kMixRows;
    projection.normEps = arguments.normEps;
    projection.hf32 = true;
    projection.extraBytes = kMostTokensPerLoop * kStreams * sizeof(float); // pre_mix
    projection.split = arguments.key;
    const Tiling<MhcProjectionTilingData> made = TileMhcProjection(projection, platform);

    Tiling<HcPreTilingData> tiling;
    tiling.key = made.key;
    tiling.blockDim = made.blockDim;
    tiling.workspaceSize = made.workspaceSize;
    tiling.error = made.error;
    tiling.data.projection = made.data;
    tiling.data.iters = arguments.iters;
    tiling.data.hcEps = static_cast<float>(arguments.hcEps);
    tiling.data.preMix = arguments.preMix ? 1 : 0;
    return tiling;
}

} // namespace ops
