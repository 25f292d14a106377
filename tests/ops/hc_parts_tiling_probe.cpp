// The tiling functions of the small HcPre operators behind C functions, for ctypes.
#include <cstring>

#include "ops/hc_post/op_host/hc_post_tiling.h"
#include "ops/hc_pre_inv_rms/op_host/hc_pre_inv_rms_tiling.h"
#include "ops/hc_pre_sinkhorn/op_host/hc_pre_sinkhorn_tiling.h"

struct Chip {
    uint32_t vectorCores;
    uint64_t ub;
    int64_t key; // negative: the tiling chooses
    char error[512];
    uint64_t chosenKey;
    uint64_t blockDim;
    uint64_t workspace;
};

namespace {

ops::TilingPlatform Platform(const Chip &chip)
{
    return {2201, chip.vectorCores, chip.vectorCores, chip.ub, 512 << 10, 64 << 10, 64 << 10, 128 << 10, 16 << 20};
}

std::optional<uint64_t> Key(const Chip &chip)
{
    return chip.key < 0 ? std::nullopt : std::optional<uint64_t>(chip.key);
}

template <typename Tiling>
int Give(const Tiling &tiling, Chip *chip, decltype(tiling.data) *data)
{
    *data = tiling.data;
    chip->chosenKey = tiling.key;
    chip->blockDim = tiling.blockDim;
    chip->workspace = tiling.workspaceSize;
    std::strncpy(chip->error, tiling.error.c_str(), sizeof(chip->error) - 1);
    return tiling.error.empty() ? 0 : 1;
}

} // namespace

extern "C" int inv_rms(uint64_t rows, uint64_t rowSize, uint32_t itemSize, Chip *chip, HcPreInvRmsTilingData *data)
{
    return Give(ops::TileHcPreInvRms({rows, rowSize, itemSize, 1e-6, Key(*chip)}, Platform(*chip)), chip, data);
}

extern "C" int sinkhorn(uint64_t tokens, uint64_t tail, Chip *chip, HcPreSinkhornTilingData *data)
{
    return Give(ops::TileHcPreSinkhorn({tokens, tail, 20, 1e-6, Key(*chip)}, Platform(*chip)), chip, data);
}

extern "C" int post(uint64_t tokens, uint64_t tail, uint32_t xBytes, uint32_t postType, Chip *chip, HcPostTilingData *data)
{
    return Give(ops::TileHcPost({tokens, tail, xBytes, postType, Key(*chip)}, Platform(*chip)), chip, data);
}
