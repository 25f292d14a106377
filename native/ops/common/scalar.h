// The number in an aclScalar.
#pragma once

#include "nnopbase/objects.h"

namespace ops {

// Whether the scalar holds a floating type; false for integers and BOOL.
bool IsFloating(const aclScalar &scalar);

// Its value; types without a real number (complex) do not occur here and give 0.
double ToDouble(const aclScalar &scalar);

} // namespace ops
