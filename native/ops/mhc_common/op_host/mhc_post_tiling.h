// How the work of MhcPost, and of operators with the same kernel, is cut.
#pragma once

#include <algorithm>
#include <optional>

#include "ops/common/tiling.h"
#include "ops/mhc_common/op_kernel/mhc_post_tiling_data.h"

namespace ops {

struct MhcPostArguments {
    uint64_t tokens;
    uint64_t streams;     // n
    uint64_t tail;        // D
    uint64_t xBytes;      // of an element of x, h and out
    uint64_t coefficientBytes; // of an element of post and comb
    bool mixed;           // comb is given, it is not the identity
    std::optional<uint64_t> key; // forces the tiling key; otherwise chosen
};

namespace mhc_post {

constexpr uint64_t kBlock = 32;
constexpr uint64_t kRepeat = 64;           // floats of a vector repeat
constexpr uint64_t kMostRepeats = 255;     // also the longest repeat stride, in blocks
constexpr uint64_t kMostRows = 4095;       // of one copy
constexpr uint64_t kFewestColumns = 256;   // a row is not cut below this only to occupy more cores
constexpr uint64_t kPerInstruction = 64;   // columns that the issue of an instruction costs, roughly

// Bytes of unified buffer; mirrors MhcPost::Kernel::Init.
inline uint64_t Bytes(const MhcPostArguments &a, uint64_t tokens, uint64_t columns, bool batched)
{
    const uint64_t n = a.streams;
    const uint64_t row = AlignUp(columns, kBlock / a.xBytes);
    const auto coefficients = [&](uint64_t bytes) {
        return AlignUp(tokens * n * bytes, kBlock) + (a.mixed ? AlignUp(tokens * n * n * bytes, kBlock) : 0);
    };
    uint64_t bytes = 2 * tokens * (2 * n + 1) * row * a.xBytes; // x, h, out
    bytes += 2 * coefficients(a.coefficientBytes);
    if (a.coefficientBytes != sizeof(float)) {
        // Laid out at the offsets of the narrow ones.
        bytes += AlignUp(coefficients(a.coefficientBytes) / a.coefficientBytes * sizeof(float), kBlock);
    }
    if (a.xBytes != sizeof(float)) {
        bytes += tokens * (n + 1) * row * sizeof(float) + (batched ? tokens : 1) * n * row * sizeof(float);
    }
    if (batched) {
        bytes += (AlignUp(tokens * n, 8) + (a.mixed ? AlignUp(tokens * n * n, 8) : 0)) * kBlock;
    }
    return bytes;
}

// The most tokens of whole rows that one piece can hold; 0 if not even one fits.
inline uint64_t MostTokens(const MhcPostArguments &a, uint64_t share, uint64_t ub, bool batched)
{
    const uint64_t n = a.streams;
    uint64_t most = std::min(share, kMostRows / n);
    if (batched) {
        const uint64_t row = AlignUp(a.tail, kBlock / a.xBytes);
        if (n * row > kMostRepeats * 8 || n * n > kMostRepeats) {
            return 0;
        }
        most = std::min({most, kMostRepeats, kMostRepeats * 8 / (n * n)});
    }
    while (most > 0 && Bytes(a, most, a.tail, batched) > ub) {
        --most;
    }
    return most;
}

// Columns of a piece so that the busiest core has least to do.
inline uint64_t ChooseTile(const MhcPostArguments &a, uint64_t most, uint64_t cores)
{
    const uint64_t fewest = CeilDiv(a.tail, most);
    const uint64_t largest = std::max(fewest, std::min(CeilDiv(a.tail, kFewestColumns), fewest + 4 * cores));
    uint64_t best = 0;
    uint64_t bestCost = 0;
    for (uint64_t tiles = fewest; tiles <= largest; ++tiles) {
        const uint64_t tile = std::min(most, AlignUp(CeilDiv(a.tail, tiles), kRepeat));
        const uint64_t cost = CeilDiv(a.tokens * CeilDiv(a.tail, tile), cores) * (tile + kPerInstruction);
        if (best == 0 || cost < bestCost) {
            best = tile;
            bestCost = cost;
        }
    }
    return best;
}

} // namespace mhc_post

// Tiling key: bit 0 the identity in the place of comb; bit 1 rows so short that several tokens share an instruction.
inline Tiling<MhcPostTilingData> TileMhcPost(const MhcPostArguments &a, const TilingPlatform &platform)
{
    using namespace mhc_post;
    Tiling<MhcPostTilingData> tiling;
    const uint64_t cores = platform.aivCores;
    if (cores == 0 || a.tokens == 0 || a.streams == 0 || a.tail == 0) {
        tiling.error = "nothing to split: " + std::to_string(a.tokens) + " tokens, n " + std::to_string(a.streams) + ", D " +
                       std::to_string(a.tail) + ", " + std::to_string(cores) + " vector cores";
        return tiling;
    }
    if (a.streams > kMostRows || a.tail > UINT32_MAX / a.xBytes) {
        tiling.error =
            "n " + std::to_string(a.streams) + " or D " + std::to_string(a.tail) + " exceeds what one copy can address";
        return tiling;
    }
    const uint64_t identity = a.mixed ? 0 : 1;
    if (a.key.has_value() && (*a.key > 3 || *a.key % 2 != identity)) {
        tiling.error = "there is no tiling key " + std::to_string(*a.key) + " for this call, only " +
                       std::to_string(identity) + " and " + std::to_string(identity + 2);
        return tiling;
    }

    const uint64_t share = CeilDiv(a.tokens, cores);
    uint64_t tokens = MostTokens(a, share, platform.ubSize, true);
    const bool batched = a.key.has_value() ? *a.key >= 2 : tokens >= 2;
    if (batched && tokens == 0) {
        tiling.error = "n " + std::to_string(a.streams) + " and D " + std::to_string(a.tail) +
                       " are too large for tiling key " + std::to_string(identity + 2);
        return tiling;
    }
    uint64_t tile = a.tail;
    if (!batched) {
        tokens = share >= 2 ? MostTokens(a, share, platform.ubSize, false) : 1;
    }
    if (!batched && tokens <= 1) {
        uint64_t most = a.tail;
        if (Bytes(a, 1, most, false) > platform.ubSize) {
            const uint64_t fixed = Bytes(a, 1, 0, false);
            const uint64_t each = Bytes(a, 1, kRepeat, false) - fixed;
            most = std::min(most, platform.ubSize > fixed ? (platform.ubSize - fixed) / each * kRepeat : 0);
        }
        if (most == 0) {
            tiling.error = "n = " + std::to_string(a.streams) + " streams do not fit the unified buffer of " +
                           std::to_string(platform.ubSize) + " bytes";
            return tiling;
        }
        tokens = 1;
        tile = ChooseTile(a, most, cores);
    } else {
        tokens = CeilDiv(share, CeilDiv(share, tokens)); // pieces of about one size
    }

    MhcPostTilingData &data = tiling.data;
    data.tokens = a.tokens;
    data.tail = a.tail;
    data.streams = static_cast<uint32_t>(a.streams);
    data.tokensPerPiece = static_cast<uint32_t>(tokens);
    data.tile = static_cast<uint32_t>(tile);
    data.columnTiles = static_cast<uint32_t>(CeilDiv(a.tail, tile));
    data.pieces = CeilDiv(a.tokens, tokens) * data.columnTiles;
    tiling.key = identity + (batched ? 2 : 0);
    tiling.blockDim = static_cast<uint32_t>(std::min(data.pieces, cores));
    tiling.workspaceSize = 0; // vector kernels without synchronisation need none
    return tiling;
}

} // namespace ops
