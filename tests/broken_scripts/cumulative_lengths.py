import numpy as np

import aclnn_py as aclnn

lengths = [128, 256, 384]  # three sequences, token-first, as cu_seqlens of flash attention
tokens = lengths[-1]
query = np.random.default_rng(4).normal(size=(tokens, 2, 128)).astype(np.float16)
key = np.random.default_rng(5).normal(size=(tokens, 2, 128)).astype(np.float16)
mask = aclnn.empty((3, 2, 2, 2), "int8")

aclnn.op("aclnnBSASelectBlockMask")(
    query, key, [64, 64], None, lengths, lengths, None, None, "TND", "TND", 2, 128**-0.5, 0.5, mask
)
print(mask.numpy().shape)
