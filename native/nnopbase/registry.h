// Which objects are alive, so that a stale or foreign pointer is refused instead of followed.
#pragma once

#include <cstdint>

#include "aclnn/acl_meta.h"
#include "runtime/export.h"

namespace nnop {

enum class Type { TENSOR, SCALAR, INT_ARRAY, FLOAT_ARRAY, BOOL_ARRAY, TENSOR_LIST, SCALAR_LIST };

void Register(const void *object, Type type);

// False if `object` is not a live object of this type.
bool Unregister(const void *object, Type type);

// A number that no other object had, 0 if `object` is not a live object of this type. An address may be used
// again, the number is not.
ACLEMU_API uint64_t SerialOf(const void *object, Type type);

} // namespace nnop
