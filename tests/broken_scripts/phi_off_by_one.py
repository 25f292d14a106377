import numpy as np

import aclnn_py as aclnn

b, s, n, d = 2, 16, 4, 640
rng = np.random.default_rng(1)
x = rng.normal(size=(b, s, n, d)).astype(np.float16)
phi = rng.normal(size=(n * n + 2 * n, n * d + 1)).astype(np.float32)  # one column for the bias?
alpha, bias = np.ones(3, np.float32), np.zeros(n * n + 2 * n, np.float32)

r = aclnn.ops.mhc_pre_sinkhorn(x, phi, alpha, bias)
print(r.hin.numpy().shape)
