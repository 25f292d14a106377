// The checks that front ends share. Each returns 0 or refuses with the status and a message that names the operator, the
// parameter, what it was and what it must be.
#pragma once

#include <cstdint>
#include <exception>
#include <initializer_list>
#include <vector>

#include "nnopbase/tensor.h"

namespace ops {

using Shape = std::vector<int64_t>;

// The token axes of x [.., n, D], that is [b, s] or [t], between what stands before and after them.
Shape AroundTokens(const Shape &x, const Shape &before, const Shape &after);

// Whether the chip is an Ascend 950.
bool On950();

class Checks {
public:
    // A refused dtype or format, shape or value is 161002.
    explicit Checks(const char *op) : op_(op) {}

    // For a front end that CANN generates from the op definition: it checks nothing but null pointers. What its kernels do
    // not take is then 561003 (dtype, format), what its tiling does not take 561002 (shape, value).
    static Checks Generated(const char *op);

    aclnnStatus NotNull(const char *name, const void *pointer) const; // 161001
    // Also 161002 for what is no live tensor: destroyed, or an object of another kind.
    aclnnStatus NotNull(const char *name, const aclTensor *tensor) const;
    aclnnStatus DType(const char *name, const aclTensor *tensor, std::initializer_list<aclDataType> allowed) const;
    aclnnStatus SameDType(const char *name, const aclTensor *tensor, const char *like, const aclTensor *other) const;
    aclnnStatus Rank(const char *name, const aclTensor *tensor, std::initializer_list<size_t> allowed) const;
    aclnnStatus AtMostDims(const char *name, const aclTensor *tensor, size_t most) const;
    // No negative dimension, and few enough elements to address.
    aclnnStatus Addressable(const char *name, const aclTensor *tensor) const;
    // `rule` says where the expected shape comes from, e.g. "[n*n + 2n, n*c]".
    aclnnStatus HasShape(const char *name, const aclTensor *tensor, const Shape &expected, const char *rule) const;
    aclnnStatus Equals(const char *name, int64_t value, int64_t expected) const;
    aclnnStatus Dense(const char *name, const aclTensor *tensor) const;
    // For an operator that reads its inputs as if dense.
    aclnnStatus DenseInput(const char *name, const aclTensor *tensor) const;
    // No axis of length 0, for an operator without a short cut for empty tensors.
    aclnnStatus NotEmpty(const char *name, const aclTensor *tensor) const;
    aclnnStatus PublicFormat(const char *name, const aclTensor *tensor) const;
    aclnnStatus Fail(aclnnStatus status, const std::string &message) const;

private:
    const char *op_;
    aclnnStatus badType_ = 161002;  // ACLNN_ERR_PARAM_INVALID
    aclnnStatus badShape_ = 161002;
};

#define OPS_RETURN_IF_ERROR(expression)                \
    do {                                               \
        const aclnnStatus opsStatus_ = (expression);   \
        if (opsStatus_ != ACLNN_SUCCESS) {             \
            return opsStatus_;                         \
        }                                              \
    } while (0)

// Runs a front end so that no exception crosses the C boundary: what is thrown (no memory, an emulator setting that is not
// valid) becomes 361001 with its text.
template <typename FrontEnd>
aclnnStatus Guarded(const Checks &check, FrontEnd &&frontEnd)
{
    try {
        return frontEnd();
    } catch (const std::exception &error) {
        return check.Fail(361001, error.what()); // ACLNN_ERR_RUNTIME_ERROR
    }
}

} // namespace ops
