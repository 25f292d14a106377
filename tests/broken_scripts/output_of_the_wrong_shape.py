import numpy as np

import aclnn_py as aclnn

b, s, n, d = 2, 8, 4, 256
x = np.ones((b, s, n, d), np.float16)
phi, alpha, bias = np.ones((24, n * d), np.float32), np.ones(3, np.float32), np.zeros(24, np.float32)
h_in = aclnn.empty((b, s, d), "float16")
h_post = aclnn.empty((b, s, d))  # as an old page of the operator has it
h_res = aclnn.empty((b, s, n, n))

aclnn.op("aclnnMhcPre")(x, phi, alpha, bias, None, 1e-6, 1e-6, h_in, h_post, h_res, None, None, None)
print(h_post.numpy().shape)
