"""For every test and every process that one starts."""

import os

# Starting OpenBLAS's threads is most of what importing NumPy costs, and these tests start many a Python
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
