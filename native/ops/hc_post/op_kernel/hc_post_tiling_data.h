// The plan that the tiling function hands to the kernel, which is that of MhcPost.
#ifndef HC_POST_TILING_DATA_H
#define HC_POST_TILING_DATA_H

#include "../../mhc_common/op_kernel/mhc_post_tiling_data.h"

using HcPostTilingData = MhcPostTilingData;

#endif // HC_POST_TILING_DATA_H
