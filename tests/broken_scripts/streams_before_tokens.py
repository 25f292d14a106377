import numpy as np

import aclnn_py as aclnn

# The residual streams of a layer as they come out of torch.stack: [n, b, s, c] -> moved to [b, n, s, c]
streams = [np.full((2, 16, 512), i, np.float16) for i in range(4)]
x = np.stack(streams).transpose(1, 0, 2, 3)
phi, alpha, bias = np.ones((24, 2048), np.float32), np.ones(3, np.float32), np.zeros(24, np.float32)

r = aclnn.ops.mhc_pre_sinkhorn(x, phi, alpha, bias)
print(r.hin.numpy().shape)
