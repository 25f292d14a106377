import numpy as np

import aclnn_py as aclnn

x = np.ones((1, 8, 4, 256), np.float16)
phi, alpha, bias = np.ones((24, 1024), np.float32), np.ones(3, np.float32), np.zeros(24, np.float32)
hidden = aclnn.zeros((1, 8, 2, 256), "float16")  # the results of two layers side by side
hin, h_post, h_res = hidden[:, :, 0], aclnn.empty((1, 8, 4)), aclnn.empty((1, 8, 16))

op = aclnn.op("aclnnMhcPreSinkhorn")
op(x, phi, alpha, bias, 4, 20, 1e-6, 1e-6, False, hin, h_post, h_res, None, None, None, None, None)
print(hin.numpy().shape)
