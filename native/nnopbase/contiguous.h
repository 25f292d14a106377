// Makes strided inputs dense for kernels that read rows, and scatters what they write to strided outputs.
#pragma once

#include <cstdint>
#include <functional>

#include "nnopbase/executor.h"
#include "nnopbase/tensor.h"
#include "runtime/export.h"

namespace nnop {

// Bytes of the view of `tensor` when dense. Types of whole bytes only.
ACLEMU_API uint64_t DenseBytes(const aclTensor &tensor);

// A launch (see Plan::launches) that copies the view of `tensor`, row-major and without gaps, to `workspace`
// + `offset`. Any rank and any strides, 0 and negative ones included. A view that reaches outside its
// allocation faults with 507035. The tensor must live until phase 2; its shape and strides are taken now, its
// address then.
ACLEMU_API std::function<Kernel()> MakeContiguous(const aclTensor *tensor, uint64_t offset);

// The other way: a launch that copies the dense elements at `workspace` + `offset` to the view of `tensor`, which is then an
// output. Where elements of the view share memory, the last one in row-major order stays.
ACLEMU_API std::function<Kernel()> CopyBack(const aclTensor *tensor, uint64_t offset);

} // namespace nnop
