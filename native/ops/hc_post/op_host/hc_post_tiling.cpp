#include "ops/hc_post/op_host/hc_post_tiling.h"

#include "ops/mhc_common/op_host/mhc_post_tiling.h"

namespace ops {
namespace {

constexpr uint64_t kStreams = 4;
constexpr uint64_t kShortRows = 2; // bit 1 of MhcPost's tiling key

} // namespace

Tiling<HcPostTilingData> TileHcPost(const HcPostArguments &arguments, const TilingPlatform &platform)
{
    const uint64_t base = uint64_t{2} * arguments.postType;
    MhcPostArguments post{};
    post.tokens = arguments.tokens;
    post.streams = kStreams;
    post.tail = arguments.tail;
    post.xBytes = arguments.xBytes;
    post.coefficientBytes = arguments.postType == 0 ? 4 : 2;
    post.mixed = true;
    if (arguments.key.has_value()) {
        if (*arguments.key / 2 != arguments.postType) {
            Tiling<HcPostTilingData> refused;
            refused.error = "there is no tiling key " + std::to_string(*arguments.key) + " for this dtype of post, only " +
                            std::to_string(base) + " and " + std::to_string(base + 1);
            return refused;
        }
        post.key = *arguments.key % 2 * kShortRows;
    }
    auto tiling = TileMhcPost(post, platform);
    tiling.key = base + tiling.key / kShortRows;
    return tiling;
}

} // namespace ops
