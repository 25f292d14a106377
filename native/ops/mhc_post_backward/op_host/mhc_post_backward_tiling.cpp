#include "ops/mhc_post_backward/op_host/mhc_post_backward_tiling.h"

#include <algorithm>

namespace ops {
namespace {

constexpr uint64_t kRepeat = 64;         // floats of a vector repeat
constexpr uint64_t kLargestTile = 1024;  // a pair's lanes, in blocks, must fit a repeat stride: at most 2040
constexpr uint64_t kTokensPerLoop = 32;
constexpr uint64_t kMostPairs = 255;     // of streams, one repeat each

// Bytes of unified buffer; mirrors MhcPostBackward::Kernel::Init.
uint64_t Bytes(const MhcPostBackwardArguments &a, uint64_t tokens, uint64_t tile)
{
    const uint64_t n = a.streams;
    const uint64_t rows = 2 * n + 1;
    const uint64_t coefficients = AlignUp(tokens * n, 8) + (a.mixed ? AlignUp(tokens * n * n, 8) : 0);
    const uint64_t dots = tokens * (AlignUp(n * n, 8) + AlignUp(n, 8));
    const uint64_t narrow = 2 * (rows + n + 1) * tile * a.bytes;
    const uint64_t wide = (rows + (n + 1) * n + n + 1) * tile * sizeof(float);
    return narrow + wide + 2 * (coefficients + dots) * sizeof(float);
}

} // namespace

Tiling<MhcPostBackwardTilingData> TileMhcPostBackward(const MhcPostBackwardArguments &a, const TilingPlatform &platform)
{
    Tiling<MhcPostBackwardTilingData> tiling;
    const uint64_t cores = platform.aivCores;
    if (cores == 0 || a.tokens == 0 || a.streams == 0 || a.tail == 0) {
        tiling.error = "nothing to split: " + std::to_string(a.tokens) + " tokens, n " + std::to_string(a.streams) + ", D " +
                       std::to_string(a.tail) + ", " + std::to_string(cores) + " vector cores";
        return tiling;
    }
    if (a.tail % kRepeat != 0 || (a.streams + 1) * a.streams > kMostPairs) {
        tiling.error =
            "n " + std::to_string(a.streams) + " or D " + std::to_string(a.tail) + " is not what the kernel can do";
        return tiling;
    }
    tiling.key = a.mixed ? 0 : 1;
    if (a.key.value_or(tiling.key) != tiling.key) {
        tiling.error =
            "there is no tiling key " + std::to_string(*a.key) + " for this call, only " + std::to_string(tiling.key);
        return tiling;
    }

    const uint64_t tokens = std::min(CeilDiv(a.tokens, cores), kTokensPerLoop);
    uint64_t most = std::min(kLargestTile, AlignUp(a.tail, kRepeat));
    while (most > 0 && Bytes(a, tokens, most) > platform.ubSize) {
        most -= kRepeat;
    }
    if (most == 0) {
        tiling.error = "the unified buffer of " + std::to_string(platform.ubSize) + " bytes is too small";
        return tiling;
    }
    MhcPostBackwardTilingData &data = tiling.data;
    data.tokens = a.tokens;
    data.tail = a.tail;
    data.streams = static_cast<uint32_t>(a.streams);
    data.tile = static_cast<uint32_t>(AlignUp(CeilDiv(a.tail, CeilDiv(a.tail, most)), kRepeat)); // tiles of about one size
    data.tokensPerLoop = static_cast<uint32_t>(tokens);
    tiling.blockDim = static_cast<uint32_t>(std::min(a.tokens, cores));
    tiling.workspaceSize = 0; // vector kernels without synchronisation need none
    return tiling;
}

} // namespace ops
