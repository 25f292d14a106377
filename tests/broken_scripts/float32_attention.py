import numpy as np

import aclnn_py as aclnn

query = np.random.default_rng(2).normal(size=(1, 2, 256, 128)).astype(np.float32)
key = np.random.default_rng(3).normal(size=(1, 2, 256, 128)).astype(np.float32)
mask = aclnn.empty((1, 2, 2, 2), "int8")

aclnn.op("aclnnBSASelectBlockMask")(
    query, key, [128, 128], None, None, None, None, None, "BNSD", "BNSD", 2, 128**-0.5, 0.5, mask
)
print(mask.numpy().sum())
