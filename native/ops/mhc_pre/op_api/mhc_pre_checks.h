// The checks of MhcPre and MhcPreV2 in the documented order.
#pragma once

#include "ops/common/checks.h"
#include "ops/mhc_pre/op_api/mhc_pre_launch.h"

namespace ops {

aclnnStatus CheckMhcPre(const Checks &check, const MhcPreTensors &tensors, const MhcPreAttributes &attributes);

} // namespace ops
