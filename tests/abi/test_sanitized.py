"""The same programs with the libraries built under sanitizers."""

import os
import pathlib
import subprocess

import pytest

HERE = pathlib.Path(__file__).parent
NATIVE = HERE.parents[1] / "native"

PROGRAMS = [
    ("lifecycle.cpp", ["no_device"], {}),
    ("lifecycle.cpp", ["devices"], {"ACLEMU_DEVICES": "2"}),
    ("lifecycle.cpp", ["contexts"], {"ACLEMU_DEVICES": "2"}),
    ("lifecycle.cpp", ["exit"], {}),
    ("memory.cpp", ["allocation"], {}),
    ("memory.cpp", ["churn"], {}),
    ("memory.cpp", ["copies"], {}),
    ("streams.cpp", ["asynchronous"], {}),
    ("streams.cpp", ["destroying"], {}),
    ("streams.cpp", ["faults"], {}),
    ("streams.cpp", ["events"], {}),
    ("streams.cpp", ["delayed"], {"ACLEMU_STREAM": "delayed"}),
    ("threads.cpp", ["500"], {"ACLEMU_DEVICES": "2"}),
    *(
        ("options.cpp", [scenario], {})
        for scenario in ("attributes", "abort", "callbacks", "notifies", "states")
    ),
    ("options.cpp", ["limits"], {}),
    *(("queries.cpp", [scenario], {}) for scenario in ("batches", "host")),
    ("options.cpp", ["delayed"], {"ACLEMU_STREAM": "delayed"}),
    ("queries.cpp", ["queries"], {"ACLEMU_DEVICES": "3", "ASCEND_RT_VISIBLE_DEVICES": "2,1"}),
    ("debug.cpp", ["memory"], {"ACLEMU_CHECK": "memory"}),
    ("debug.cpp", ["sync"], {"ACLEMU_CHECK": "sync"}),
    *(("debug.cpp", [scenario], {}) for scenario in ("faults", "leaks", "mode", "exceptions")),
    ("threads.cpp", ["200"], {"ACLEMU_DEVICES": "2", "ACLEMU_CHECK": "memory,sync"}),
    ("small_floats.cpp", [], {}),
    ("objects.cpp", [], {}),
    ("contiguous.cpp", [], {}),
]


@pytest.mark.slow
# Programs pass values that no enumerator has, as C programs can; reading those is what `enum` would stop.
@pytest.mark.parametrize("flags", ["-fsanitize=address,undefined -fno-sanitize=enum", "-fsanitize=thread"])
def test_programs(tmp_path: pathlib.Path, flags: str) -> None:
    options = ["-std=gnu++17", "-O1", "-g", "-fPIC", "-pthread", "-fno-sanitize-recover=all", *flags.split()]
    include = ["-I", str(NATIVE), "-I", str(NATIVE / "include"), "-I", str(HERE / "programs")]
    folders = {"libascendcl.so": "runtime", "libnnopbase.so": "nnopbase"}
    linked: list[str] = []
    for library, folder in folders.items():
        sources = [str(source) for source in sorted((NATIVE / folder).glob("*.cpp"))]
        command = ["g++", *options, *include, "-shared", *sources, "-o", str(tmp_path / library), *linked]
        subprocess.run(command, check=True)
        linked = ["-L", str(tmp_path), "-lascendcl", f"-Wl,-rpath,{tmp_path}"]
    linked.append("-lnnopbase")
    for name, arguments, variables in PROGRAMS:
        program = tmp_path / pathlib.Path(name).stem
        if not program.exists():
            source = str(HERE / "programs" / name)
            subprocess.run(["g++", *options, *include, source, "-o", str(program), *linked], check=True)
        done = subprocess.run(
            [str(program), *arguments],
            capture_output=True,
            text=True,
            timeout=300,
            env={**os.environ, **variables},
        )
        assert done.returncode == 0, f"{name} {arguments}\n{done.stdout}\n{done.stderr}"
