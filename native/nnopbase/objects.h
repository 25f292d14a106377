// Scalars, arrays and lists behind the opaque handles of aclnn/acl_meta.h.
#pragma once

#include <cstdint>
#include <vector>

#include "aclnn/acl_meta.h"
#include "runtime/export.h"

struct aclScalar {
    aclDataType dataType;
    alignas(16) unsigned char value[16]; // the bytes as given
};

struct aclIntArray {
    std::vector<int64_t> values;
};

struct aclFloatArray {
    std::vector<float> values;
};

struct aclBoolArray {
    std::vector<unsigned char> values; // 0 or 1
};

// Elements may be NULL.
struct aclTensorList {
    std::vector<const aclTensor *> values;
};

struct aclScalarList {
    std::vector<const aclScalar *> values;
};
