// The tiling functions of MhcPost, MhcPostBackward and MhcSinkhorn behind C functions, for ctypes.
#include <cstring>

#include "ops/mhc_common/op_host/mhc_post_tiling.h"
#include "ops/mhc_post_backward/op_host/mhc_post_backward_tiling.h"
#include "ops/mhc_sinkhorn/op_host/mhc_sinkhorn_tiling.h"

namespace {

ops::TilingPlatform Platform(uint32_t cores, uint64_t ub)
{
    return {2201, cores / 2, cores, ub, 512 << 10, 64 << 10, 64 << 10, 128 << 10, 16 << 20};
}

template <typename Data>
int Answer(const ops::Tiling<Data> &tiling, Data *data, uint64_t *launch, char *error, size_t errorSize)
{
    *data = tiling.data;
    launch[0] = tiling.key;
    launch[1] = tiling.blockDim;
    launch[2] = tiling.workspaceSize;
    std::strncpy(error, tiling.error.c_str(), errorSize - 1);
    return tiling.error.empty() ? 0 : 1;
}

std::optional<uint64_t> Key(int key)
{
    return key < 0 ? std::optional<uint64_t>() : static_cast<uint64_t>(key);
}

} // namespace

extern "C" int post(uint64_t tokens, uint64_t n, uint64_t tail, int mixed, int key, uint32_t cores, uint64_t ub,
                    MhcPostTilingData *data, uint64_t *launch, char *error, size_t errorSize)
{
    const ops::MhcPostArguments arguments{tokens, n, tail, 2, 4, mixed != 0, Key(key)};
    return Answer(ops::TileMhcPost(arguments, Platform(cores, ub)), data, launch, error, errorSize);
}

extern "C" int backward(uint64_t tokens, uint64_t n, uint64_t tail, int mixed, int key, uint32_t cores, uint64_t ub,
                        MhcPostBackwardTilingData *data, uint64_t *launch, char *error, size_t errorSize)
{
    const ops::MhcPostBackwardArguments arguments{tokens, n, tail, 2, mixed != 0, Key(key)};
    return Answer(ops::TileMhcPostBackward(arguments, Platform(cores, ub)), data, launch, error, errorSize);
}

extern "C" int sinkhorn(uint64_t tokens, uint64_t n, uint64_t iters, int slots, int key, uint32_t cores, uint64_t ub,
                        MhcSinkhornTilingData *data, uint64_t *launch, char *error, size_t errorSize)
{
    const ops::MhcSinkhornArguments arguments{tokens, n, static_cast<uint32_t>(iters), 1e-6f, slots != 0, Key(key)};
    return Answer(ops::TileMhcSinkhorn(arguments, Platform(cores, ub)), data, launch, error, errorSize);
}
