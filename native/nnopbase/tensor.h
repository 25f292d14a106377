// The objects behind the opaque handles of aclnn/acl_meta.h, for the front ends of our operators.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "aclnn/acl_meta.h"
#include "runtime/export.h"

struct ACLEMU_API aclTensor {
    std::vector<int64_t> viewShape;
    std::vector<int64_t> viewStrides;
    int64_t viewOffset = 0; // elements
    std::vector<int64_t> storageShape;
    aclDataType dataType = ACL_DT_UNDEFINED;
    aclFormat format = ACL_FORMAT_UNDEFINED;
    void *address = nullptr; // unshifted storage address

    int64_t Size() const;        // elements of the view, 1 for rank 0
    bool IsEmpty() const;        // a view dimension is 0
    bool IsContiguous() const;   // row-major without gaps; empty and one-element views are
    uint8_t *Data() const;       // address + viewOffset elements
};

namespace nnop {

// Bytes of one element as nnopbase counts them (unknown types 16); 0 never.
ACLEMU_API size_t TypeSize(aclDataType type);
ACLEMU_API std::string ToString(aclDataType type);                  // "DT_BFLOAT16"
ACLEMU_API std::string ToString(aclFormat format);                  // "NC1HWC0"
ACLEMU_API std::string ToString(const std::vector<int64_t> &shape); // "[2, 3]"
ACLEMU_API bool IsPrivateFormat(aclFormat format);

} // namespace nnop
