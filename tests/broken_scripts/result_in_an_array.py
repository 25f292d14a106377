import numpy as np

import aclnn_py as aclnn

a, b = np.ones((2, 3), np.float32), np.ones((2, 3), np.float32)
out = np.empty((2, 3), np.float32)

aclnn.op("aclnnAdd")(a, b, 1.0, out)
print(out)
