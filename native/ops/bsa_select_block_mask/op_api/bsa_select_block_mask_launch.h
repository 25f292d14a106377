// From checked arguments to the plan that the executor holds.
#pragma once

#include <string>

#include "nnopbase/executor.h"
#include "ops/bsa_select_block_mask/op_api/bsa_select_block_mask_checks.h"

namespace ops {

// Tiles and plans: the numbers of the batches and blocks go to workspace, strided inputs are made dense, then comes the
// kernel. False with `error` when the tiling refuses.
bool PlanBSASelectBlockMask(const char *op, const BSASelectBlockMaskCall &call, const BSASelectBlockMaskArguments &arguments,
                            nnop::Plan *plan, std::string *error);

} // namespace ops
