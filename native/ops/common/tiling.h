// What a tiling function gets and gives, free of any framework: the emulator and the adapter for CANN's TilingContext
// both fill and read these.
#pragma once

#include <cstdint>
#include <string>

namespace ops {

// The chip, as PlatformAscendC reports it. Sizes in bytes, per core, without what the API keeps for itself.
struct TilingPlatform {
    uint32_t npuArch; // 2201 or 3510
    uint32_t aicCores;
    uint32_t aivCores;
    uint64_t ubSize;
    uint64_t l1Size;
    uint64_t l0aSize;
    uint64_t l0bSize;
    uint64_t l0cSize;
    uint64_t systemWorkspace;
};

template <typename TilingData>
struct Tiling {
    TilingData data{};
    uint64_t key = 0;
    uint32_t blockDim = 0;
    uint64_t workspaceSize = 0; // system workspace included
    std::string error;          // not empty: this shape cannot be tiled, and why
};

constexpr uint64_t CeilDiv(uint64_t value, uint64_t by)
{
    return (value + by - 1) / by;
}

constexpr uint64_t AlignUp(uint64_t value, uint64_t to)
{
    return CeilDiv(value, to) * to;
}

} // namespace ops
