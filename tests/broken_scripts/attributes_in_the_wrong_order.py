import numpy as np

import aclnn_py as aclnn

x = np.ones((1, 8, 4, 256), np.float16)
phi, alpha, bias = np.ones((24, 1024), np.float32), np.ones(3, np.float32), np.zeros(24, np.float32)
hin, h_post, h_res = aclnn.empty((1, 8, 256), "float16"), aclnn.empty((1, 8, 4)), aclnn.empty((1, 8, 16))

hc_mult, num_iters, hc_eps, norm_eps = 4, 20, 1e-6, 1e-6
op = aclnn.op("aclnnMhcPreSinkhorn")
op(
    x, phi, alpha, bias, hc_eps, norm_eps, hc_mult, num_iters, False, hin, h_post, h_res,
    None, None, None, None, None,
)  # fmt: skip
print(hin.numpy().shape)
