#include "ops/mhc_pre/op_host/mhc_pre_tiling.h"

#include "ops/mhc_common/op_host/mhc_projection_tiling.h"

namespace ops {

Tiling<MhcPreTilingData> TileMhcPre(const MhcPreArguments &arguments, const TilingPlatform &platform)
{
    Tiling<MhcPreTilingData> tiling;
    const uint64_t n = arguments.streams;
    const uint64_t family = 100 * n + (arguments.hasRes ? 0 : 10);
    const uint64_t forced = arguments.key.value_or(0);
    if (forced > 1 && forced != family && forced != family + 1) {
        tiling.error = "there is no tiling key " + std::to_string(forced) + " for n " + std::to_string(n) +
                       (arguments.hasRes ? " with" : " without") + " hRes, only " + std::to_string(family) + " and " +
                       std::to_string(family + 1);
        return tiling;
    }

    MhcProjectionArguments projection{};
    projection.tokens = arguments.tokens;
    projection.tail = arguments.tail;
    projection.streams = n;
    projection.mix = 2 * n + (arguments.hasRes ? n * n : 0);
    projection.normEps = arguments.normEps;
    projection.hf32 = arguments.hf32;
    projection.gamma = arguments.hasGamma;
    if (arguments.key) {
        projection.split = forced % 10;
    }
    const auto shared = TileMhcProjection(projection, platform);
    tiling.data.projection = shared.data;
    tiling.data.outFlag = arguments.outFlag ? 1 : 0;
    tiling.data.hcEps = static_cast<float>(arguments.hcEps);
    tiling.key = family + shared.key;
    tiling.blockDim = shared.blockDim;
    tiling.workspaceSize = shared.workspaceSize;
    tiling.error = shared.error;
    return tiling;
}

} // namespace ops
