import numpy as np

import aclnn_py as aclnn

a = np.arange(6, dtype=np.float32).reshape(2, 3)
out = aclnn.empty((2, 3))
other = 2

aclnn.op("aclnnAdd")(a, other, 1.0, out)
print(out.numpy())
