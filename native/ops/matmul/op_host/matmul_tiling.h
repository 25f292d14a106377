// How the tiles of a matrix product are spread over the cube cores.
#pragma once

#include "ops/common/tiling.h"
#include "ops/matmul/op_kernel/matmul_tiling_data.h"

namespace ops {

struct MatmulArguments {
    uint64_t m;
    uint64_t n;
    uint64_t k;
    uint32_t elementBytes; // 2 or 4
    bool hf32;
};

// Tiles of at most 128 x 128 elements of out, dealt to the cube cores in turn; each goes over all of k.
Tiling<MatmulTilingData> TileMatmul(const MatmulArguments &arguments, const TilingPlatform &platform);

} // namespace ops
