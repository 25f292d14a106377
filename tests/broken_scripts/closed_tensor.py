import numpy as np

import aclnn_py as aclnn

add, out = aclnn.op("aclnnAdd"), aclnn.empty(4)
with aclnn.tensor(np.ones(4, np.float32)) as weights:
    add(weights, weights, 1.0, out)
add(weights, out, 1.0, out)
print(out.numpy())
