import numpy as np

import aclnn_py as aclnn

x = np.random.default_rng(0).normal(size=(1, 8, 4, 256)).astype(np.float16)
phi = np.full((24, 1024), 1 / 32, np.float32)
alpha = np.array([0.5, 0.5, 0.5])
bias = np.zeros(24, np.float32)
hin, h_post, h_res = aclnn.empty((1, 8, 256), "float16"), aclnn.empty((1, 8, 4)), aclnn.empty((1, 8, 16))

op = aclnn.op("aclnnMhcPreSinkhorn")
op(x, phi, alpha, bias, 4, 20, 1e-6, 1e-6, False, hin, h_post, h_res, None, None, None, None, None)
print(hin.numpy().shape)
