"""What `import aclnn_py` adds to NumPy and ml_dtypes: `python benchmarks/import_time.py`.

Each statement runs in a new Python, in turns; the numbers are CPU seconds, medians, with the start of Python
itself taken off.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys

WAYS = {"python": "pass", "numpy": "import numpy, ml_dtypes", "aclnn_py": "import numpy, ml_dtypes, aclnn_py"}


def cpu_seconds(statement: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", statement], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--rounds", type=int, default=15, help="runs of each statement (default 15)")
    rounds = parser.parse_args().rounds
    samples: dict[str, list[float]] = {name: [] for name in WAYS}
    for _ in range(rounds):
        for name, statement in WAYS.items():
            samples[name].append(cpu_seconds(statement))
    python, numpy, ours = (statistics.median(samples[name]) for name in WAYS)
    print(f"NumPy and ml_dtypes {(numpy - python) * 1e3:.0f} ms")
    print(
        f"aclnn_py after them {(ours - numpy) * 1e3:.0f} ms, {(ours - numpy) / (numpy - python):.2f} x theirs"
    )


if __name__ == "__main__":
    main()
