#include "ops/common/checks.h"

#include "nnopbase/op_log.h"
#include "nnopbase/registry.h"
#include "aclnn/opdev/op_errno.h"
#include "runtime/platform.h"

namespace ops {
namespace {

std::string Join(std::initializer_list<aclDataType> types)
{
    std::string text = "[";
    for (const aclDataType type : types) {
        text += (text.size() > 1 ? ", " : "") + nnop::ToString(type);
    }
    return text + "]";
}

} // namespace

Shape AroundTokens(const Shape &x, const Shape &before, const Shape &after)
{
    Shape shape = before;
    shape.insert(shape.end(), x.begin(), x.end() - 2);
    shape.insert(shape.end(), after.begin(), after.end());
    return shape;
}

bool On950()
{
    constexpr uint32_t arch = 3510;
    return aclemu::CurrentPlatform().npuArch == arch;
}

Checks Checks::Generated(const char *op)
{
    Checks checks(op);
    checks.badType_ = ACLNN_ERR_INNER_FIND_KERNEL_ERROR;
    checks.badShape_ = ACLNN_ERR_INNER_TILING_ERROR;
    return checks;
}

aclnnStatus Checks::Fail(aclnnStatus status, const std::string &message) const
{
    return nnop::Refuse(status, op_, std::string(op_) + ": " + message);
}

aclnnStatus Checks::NotNull(const char *name, const void *pointer) const
{
    if (pointer != nullptr) {
        return ACLNN_SUCCESS;
    }
    return Fail(ACLNN_ERR_PARAM_NULLPTR, std::string(name) + " is nullptr, expected a valid pointer.");
}

aclnnStatus Checks::NotNull(const char *name, const aclTensor *tensor) const
{
    OPS_RETURN_IF_ERROR(NotNull(name, static_cast<const void *>(tensor)));
    if (nnop::SerialOf(tensor, nnop::Type::TENSOR) != 0) {
        return ACLNN_SUCCESS;
    }
    return Fail(ACLNN_ERR_PARAM_INVALID,
                std::string(name) + " is not a live aclTensor, expected one that aclCreateTensor made and that still exists.");
}

aclnnStatus Checks::DType(const char *name, const aclTensor *tensor, std::initializer_list<aclDataType> allowed) const
{
    for (const aclDataType type : allowed) {
        if (tensor->dataType == type) {
            return ACLNN_SUCCESS;
        }
    }
    return Fail(badType_, std::string(name) + " has dtype " + nnop::ToString(tensor->dataType) +
                              ", should be in dtype support list " + Join(allowed) + ".");
}

aclnnStatus Checks::SameDType(const char *name, const aclTensor *tensor, const char *like, const aclTensor *other) const
{
    if (tensor->dataType == other->dataType) {
        return ACLNN_SUCCESS;
    }
    return Fail(badType_, std::string(name) + " has dtype " + nnop::ToString(tensor->dataType) +
                              ", expected the dtype of " + like + ", " + nnop::ToString(other->dataType) +
                              ".");
}

aclnnStatus Checks::Rank(const char *name, const aclTensor *tensor, std::initializer_list<size_t> allowed) const
{
    std::string ranks;
    for (const size_t rank : allowed) {
        if (tensor->viewShape.size() == rank) {
            return ACLNN_SUCCESS;
        }
        ranks += (ranks.empty() ? "" : " or ") + std::to_string(rank);
    }
    return Fail(badShape_, std::string(name) + " has " + std::to_string(tensor->viewShape.size()) +
                               " dimensions, shape " + nnop::ToString(tensor->viewShape) + ", expected " +
                               ranks + ".");
}

aclnnStatus Checks::AtMostDims(const char *name, const aclTensor *tensor, size_t most) const
{
    if (tensor->viewShape.size() <= most) {
        return ACLNN_SUCCESS;
    }
    return Fail(badShape_, std::string(name) + " has " + std::to_string(tensor->viewShape.size()) +
                               " dimensions, cannot be larger than " + std::to_string(most) + ".");
}

aclnnStatus Checks::Addressable(const char *name, const aclTensor *tensor) const
{
    constexpr int64_t most = int64_t{1} << 40; // elements; far beyond any device's memory
    int64_t size = 1;
    for (const int64_t dim : tensor->viewShape) {
        if (dim < 0 || dim > most || (dim != 0 && size > most / dim)) {
            return Fail(badShape_, std::string(name) + " has shape " + nnop::ToString(tensor->viewShape) +
                                       ", expected no negative dimension and at most 2^40 elements.");
        }
        size *= dim;
    }
    return ACLNN_SUCCESS;
}

aclnnStatus Checks::HasShape(const char *name, const aclTensor *tensor, const Shape &expected, const char *rule) const
{
    if (tensor->viewShape == expected) {
        return ACLNN_SUCCESS;
    }
    const std::string shape = nnop::ToString(expected);
    return Fail(badShape_, std::string(name) + " has shape " + nnop::ToString(tensor->viewShape) +
                               ", expected " + shape + (shape == rule ? "" : std::string(" = ") + rule) + ".");
}

aclnnStatus Checks::Equals(const char *name, int64_t value, int64_t expected) const
{
    if (value == expected) {
        return ACLNN_SUCCESS;
    }
    return Fail(badShape_, std::string(name) + " is " + std::to_string(value) + ", expected " +
                               std::to_string(expected) + ".");
}

aclnnStatus Checks::Dense(const char *name, const aclTensor *tensor) const
{
    if (tensor->IsContiguous()) {
        return ACLNN_SUCCESS;
    }
    return Fail(badShape_, std::string(name) + " is not contiguous: shape " +
                               nnop::ToString(tensor->viewShape) + " with strides " +
                               nnop::ToString(tensor->viewStrides) +
                               ", expected a contiguous output; this operator writes it as if dense.");
}

aclnnStatus Checks::DenseInput(const char *name, const aclTensor *tensor) const
{
    if (tensor->IsContiguous()) {
        return ACLNN_SUCCESS;
    }
    return Fail(badShape_, std::string(name) + " is not contiguous: shape " + nnop::ToString(tensor->viewShape) +
                               " with strides " + nnop::ToString(tensor->viewStrides) +
                               ", expected a contiguous tensor; this operator reads it as if dense.");
}

aclnnStatus Checks::NotEmpty(const char *name, const aclTensor *tensor) const
{
    if (!tensor->IsEmpty()) {
        return ACLNN_SUCCESS;
    }
    return Fail(badShape_, std::string(name) + " has shape " + nnop::ToString(tensor->viewShape) +
                               ", expected no axis of length 0.");
}

aclnnStatus Checks::PublicFormat(const char *name, const aclTensor *tensor) const
{
    if (!nnop::IsPrivateFormat(tensor->format)) {
        return ACLNN_SUCCESS;
    }
    return Fail(badType_, std::string(name) + " has private format " + nnop::ToString(tensor->format) +
                              ", expected ND.");
}

} // namespace ops
