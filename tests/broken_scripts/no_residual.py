import numpy as np

import aclnn_py as aclnn

x = np.ones((2, 8, 4, 256), np.float16)
phi, bias = np.ones((24, 1024), np.float32), np.zeros(24, np.float32)
alpha = np.ones(3, np.float32)
h_in, h_post = aclnn.empty((2, 8, 256), "float16"), aclnn.empty((2, 8, 4))

# Only h_in and h_post are wanted, so no memory for the rest
aclnn.op("aclnnMhcPre")(x, phi, alpha, bias, None, 1e-6, 1e-6, h_in, h_post, None, None, None, None)
print(h_post.numpy().shape)
