// What aclnnBSASelectBlockMask accepts.
#pragma once

#include <cstdint>

#include "ops/bsa_select_block_mask/op_host/bsa_select_block_mask_tiling.h"
#include "ops/common/checks.h"

namespace ops {

// The operator's arguments under the names of its prototype.
struct BSASelectBlockMaskCall {
    const aclTensor *query;
    const aclTensor *key;
    const aclIntArray *blockShape;
    const aclIntArray *postBlockShape;
    const aclIntArray *actualSeqLengths;
    const aclIntArray *actualSeqLengthsK;
    const aclIntArray *actualBlockLenQuery;
    const aclIntArray *actualBlockLenKey;
    const char *queryLayout;
    const char *keyLayout;
    int64_t numKeyHeads;
    double scaleValue;
    double sparsity;
    const aclTensor *blockSparseMaskOut;
};

// The checks in the documented order: null pointers, what is 161002, what the tiling refuses. Fills `arguments` on success.
aclnnStatus CheckBSASelectBlockMask(const Checks &check, const BSASelectBlockMaskCall &call,
                                    BSASelectBlockMaskArguments *arguments);

} // namespace ops
