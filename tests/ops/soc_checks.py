"""Runs the check_* functions of a script, which then has one SoC, and prints a line of JSON for each.

A process has one SoC, so tests of another one start such a script; see the fixture `on_soc`.
"""

import json
import time
import traceback


def main(functions: dict) -> None:
    for name, function in list(functions.items()):
        if not name.startswith("check_"):
            continue
        start, error = time.perf_counter(), None
        try:
            function()
        except BaseException:
            error = traceback.format_exc()
        print(json.dumps({"check": name, "error": error, "seconds": time.perf_counter() - start}), flush=True)
