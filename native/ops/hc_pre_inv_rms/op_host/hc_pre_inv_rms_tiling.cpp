#include "ops/hc_pre_inv_rms/op_host/hc_pre_inv_rms_tiling.h"

#include <algorithm>

namespace ops {
namespace {

constexpr uint64_t kFullLoad = 1000;
constexpr uint64_t kSplitRows = 1001;
constexpr uint64_t kLanes = 4096;
constexpr uint64_t kLargestPiece = 4 * kLanes;
constexpr uint64_t kBlock = 32;           // bytes; every buffer is rounded up to it
constexpr uint64_t kMostRowsPerPass = 4095; // of one DataCopyPad
constexpr uint64_t kRowsPerPassWhenSplit = 64;
constexpr uint64_t kBytesPerResult = 16;  // two output buffers, sums, ones

} // namespace

Tiling<HcPreInvRmsTilingData> TileHcPreInvRms(const HcPreInvRmsArguments &arguments, const TilingPlatform &platform)
{
    Tiling<HcPreInvRmsTilingData> tiling;
    if (arguments.rows == 0 || arguments.rowSize == 0 || platform.aivCores == 0) {
        tiling.error = "nothing to split: " + std::to_string(arguments.rows) + " rows of " +
                       std::to_string(arguments.rowSize) + " elements, " + std::to_string(platform.aivCores) +
                       " vector cores";
        return tiling;
    }
    HcPreInvRmsTilingData &data = tiling.data;
    data.rows = arguments.rows;
    data.rowSize = arguments.rowSize;
    data.rowsPerCore = CeilDiv(arguments.rows, platform.aivCores);
    data.epsilon = static_cast<float>(arguments.epsilon);
    data.meanFactor = static_cast<float>(1.0 / static_cast<double>(arguments.rowSize));
    tiling.blockDim = static_cast<uint32_t>(CeilDiv(arguments.rows, data.rowsPerCore));

    data.lanes = static_cast<uint32_t>(std::min(AlignUp(arguments.rowSize, kBlock), kLanes));
    const uint64_t laneBytes = data.lanes * (arguments.itemSize == 2 ? 2 : 1) * sizeof(float); // partial sums, widened x
    const uint64_t fixedBytes = laneBytes + 4 * kBlock;
    const uint64_t free = platform.ubSize > fixedBytes ? platform.ubSize - fixedBytes : 0;
    const uint64_t rowBytes = AlignUp(arguments.rowSize * arguments.itemSize, kBlock);
    const uint64_t fitting = free / (2 * rowBytes + kBytesPerResult);

    tiling.key = arguments.key.value_or(fitting > 0 ? kFullLoad : kSplitRows);
    if (tiling.key == kFullLoad) {
        data.rowsPerPass = static_cast<uint32_t>(std::min({fitting, data.rowsPerCore, kMostRowsPerPass}));
        data.loadBytes = static_cast<uint32_t>(data.rowsPerPass * rowBytes);
    } else if (tiling.key == kSplitRows) {
        data.rowsPerPass = static_cast<uint32_t>(std::min(data.rowsPerCore, kRowsPerPassWhenSplit));
        const uint64_t forPieces = free - std::min(free, data.rowsPerPass * kBytesPerResult);
        const uint64_t chunks = std::min(forPieces / 2 / (data.lanes * arguments.itemSize), kLargestPiece / kLanes);
        data.pieceSize = static_cast<uint32_t>(chunks * data.lanes);
        data.loadBytes = static_cast<uint32_t>(data.pieceSize * arguments.itemSize);
    } else {
        tiling.error = "there is no tiling key " + std::to_string(tiling.key) + ", only 1000 and 1001";
        return tiling;
    }
    if (data.loadBytes == 0) {
        tiling.error = "rows of " + std::to_string(arguments.rowSize) + " elements do not fit the unified buffer of " +
                       std::to_string(platform.ubSize) + " bytes";
    }
    return tiling;
}

} // namespace ops
