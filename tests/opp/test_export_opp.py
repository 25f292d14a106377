"""The operator project that `aclnn-py export-opp` writes, as far as it can be checked without CANN.

Definitions, shape inference and tiling adapters are compiled against a stand-in for the documented API
(mock/) and run; kernels are compiled with the twin, from the exported folder alone.
"""

import json
import os
import re
import shutil
import struct
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from click.testing import CliRunner

import aclnn_py
from aclnn_py import opp_export
from aclnn_py.cli import cli
from aclnn_py.prototype import read_header

HERE = Path(__file__).parent
NATIVE = HERE.parents[1] / "native"
HEADERS = NATIVE / "opp" / "vendors" / "aclnn_py" / "op_api" / "include"
FLOAT, FLOAT16, BF16 = 0, 1, 27


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("opp") / "project"
    opp_export.export(folder, vendor="mine", compute_unit="Ascend910B3")
    return folder


@pytest.fixture(scope="module")
def printed(project, tmp_path_factory):
    """What project.cpp prints, by operator: definitions, calls, too long ones, unknown ranks."""
    program = tmp_path_factory.mktemp("program") / "project"
    sources = [*sorted((project / "op_host").glob("*.cpp")), HERE / "project.cpp"]
    flags = ["-std=c++17", "-Wall", "-Wextra", "-Werror", "-O0", f"-I{HERE / 'mock'}"]

    def compiled(source):
        made = program.with_name(source.stem + ".o")
        ran = subprocess.run(
            ["g++", *flags, "-c", str(source), "-o", str(made)], capture_output=True, text=True, check=False
        )
        assert ran.returncode == 0, ran.stderr
        return str(made)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = list(pool.map(compiled, sources))
    subprocess.run(["g++", *objects, "-o", str(program)], check=True)
    out = subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout
    rows = [json.loads(line) for line in out.splitlines()]
    definitions = {row["op"]: row for row in rows if "socs" in row}
    calls = {name: [row for row in rows if row["op"] == name and "key" in row] for name in definitions}
    longer = {
        name: {row["longer"]: row["tiled"] for row in rows if row["op"] == name and "longer" in row}
        for name in definitions
    }
    unknown = {row["op"]: row["unknown"] for row in rows if "unknown" in row}
    return definitions, calls, longer, unknown


def camel(name):
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def generated(definition):
    """(type, name) of the parameters that CANN's generator makes of a definition."""
    inputs = [
        ("const aclTensor *", camel(p["name"]) + ("Optional" if p["optional"] else ""))
        for p in definition["inputs"]
    ]
    attrs = [(kind, camel(name)) for name, kind, _ in definition["attrs"]]
    outputs = [camel(p["name"]) + "Out" for p in definition["outputs"]]
    outputs = outputs if len(outputs) > 1 else ["out"]
    return inputs + attrs + [("const aclTensor *", name) for name in outputs]


def squeezed(ctype):
    return re.sub(r"\s+", "", ctype)


@pytest.mark.parametrize("op", ["HcPre", "HcPreV2", "HcPreInvRms", "HcPreSinkhorn", "HcPost"])
def test_a_definition_generates_our_header(printed, op):
    """The package built with CANN has the prototypes of the emulator's."""
    definition = printed[0][op]
    file = HEADERS / f"aclnn_{re.sub(r'(?<=[a-z0-9])(?=[A-Z])', '_', op).lower()}.h"
    prototype = read_header(file.read_text(), str(file)).operators[f"aclnn{op}"]
    ours = [(squeezed(p.ctype), p.name) for p in prototype.parameters]
    assert ours == [(squeezed(kind), name) for kind, name in generated(definition)]
    for parameter in definition["inputs"] + definition["outputs"]:
        assert len(parameter["types"]) == parameter["formats"] == len(definition["inputs"][0]["types"])
    assert definition["socs"] == ["ascend910b", "ascend910_93", "ascend950"]


def test_hc_post_has_nine_kernels(printed):
    types = [p["types"] for p in printed[0]["HcPost"]["inputs"]]
    assert types[0] == types[1] == printed[0]["HcPost"]["outputs"][0]["types"] and types[2] == types[3]
    pairs = set(zip(types[0], types[2], strict=True))
    assert pairs == {(a, b) for a in (FLOAT, FLOAT16, BF16) for b in (FLOAT, FLOAT16, BF16)}


def test_defaults(printed):
    defaults = {op: {name: value for name, _, value in d["attrs"]} for op, d in printed[0].items()}
    pre = {"hc_mult": 4, "hc_sinkhorn_iters": 20, "hc_eps": 1e-6, "norm_eps": 1e-6}
    assert defaults["HcPre"] == defaults["HcPreV2"] == pre
    assert defaults["HcPreSinkhorn"] == {"hc_mult": 4, "hc_sinkhorn_iters": 20, "hc_eps": 1e-6}
    assert defaults["HcPreInvRms"] == {"epsilon": 1e-6} and defaults["HcPost"] == {}


def test_hc_pre_is_tiled(printed):
    few, many, *refused = printed[1]["HcPre"]
    assert few["outputs"] == [[64, 4096], [64, 4], [64, 4, 4]] and few["types"] == [BF16, FLOAT, FLOAT]
    assert many["outputs"] == [[2, 4096, 7168], [2, 4096, 4], [2, 4096, 4, 4]]
    # Few tokens: the columns are split, and the kernel's SyncAll needs all cores at once.
    assert few["tiled"] and (few["key"], few["scheduleMode"]) == (1, 1) and few["blockDim"] == 16
    assert many["tiled"] and (many["key"], many["scheduleMode"]) == (0, 0) and many["blockDim"] == 20
    assert many["workspace"] > 16 << 20
    assert struct.unpack_from("<2Q", bytes(few["data"])) == (64, 4096)  # tokens, d
    # ..., normEps, meanFactor | iters, hcEps, preMix, reserved
    norm_eps, mean, iters, hc_eps, pre_mix, _ = struct.unpack("<ffIfII", bytes(few["data"])[-24:])
    assert (norm_eps, mean, iters, hc_eps, pre_mix) == (0.5, 1 / 16384, 20, 0.25, 0)
    assert [call["tiled"] for call in refused] == [False] * 3  # d 4000, hc_mult 6, 19 iterations


def test_hc_pre_v2_sees_whether_pre_mix_is_given(printed):
    given, left_out = printed[1]["HcPreV2"]
    assert given["outputs"] == left_out["outputs"] == [[64, 4096], [64, 4], [64, 4, 4], [64, 4]]
    flags = [struct.unpack("<II", bytes(call["data"])[-8:])[0] for call in (given, left_out)]
    assert flags == [1, 0]


def test_the_small_operators_are_tiled(printed):
    fine, zero = printed[1]["HcPreInvRms"]
    assert fine["outputs"] == [[3, 5, 1]] and fine["tiled"] and not zero["tiled"]
    assert struct.unpack_from("<2Q", bytes(fine["data"])) == (15, 16384)
    assert struct.pack("<f", 0.125) in bytes(fine["data"])
    fine, rows = printed[1]["HcPreSinkhorn"]
    assert fine["outputs"] == [[7, 64], [7, 4], [7, 4, 4]] and fine["tiled"] and not rows["tiled"]
    assert struct.pack("<f", 0.25) in bytes(fine["data"])
    fine, tail = printed[1]["HcPost"]
    assert (
        fine["outputs"] == [[9, 4, 128]] and fine["types"] == [BF16] and fine["tiled"] and not tail["tiled"]
    )


def test_unknown_ranks_stay_unknown(printed):
    """A graph is built before its shapes are known; the definitions say that they take any rank."""
    definitions, *_, unknown = printed
    assert unknown == {op: [[-2]] * len(definition["outputs"]) for op, definition in definitions.items()}


def test_tiling_looks_at_every_shape(printed):
    """The kernels rely on the shapes of a valid call, and nothing behind the tiling checks them."""
    definitions, _, longer, _ = printed
    for op, tiled in longer.items():
        names = [p["name"] for p in definitions[op]["inputs"] + definitions[op]["outputs"]]
        assert list(tiled) == names
        # Any row length is fine for HcPreInvRms.
        assert [name for name in names if tiled[name]] == (["x"] if op == "HcPreInvRms" else [])


@pytest.mark.parametrize(
    "op, arch",
    [
        pytest.param(op, arch, marks=[pytest.mark.slow] if arch == 3510 or i % 2 else [])
        for i, op in enumerate(opp_export.OPERATORS)
        for arch in (2201, 3510)
    ],
)
def test_kernels_compile_from_the_folder_alone(project, tmp_path, op, arch):
    if not (NATIVE / "ascendc" / "kernel_operator.h").is_file():
        pytest.skip("the twin's headers are in the source tree only")
    unit = tmp_path / "unit.cpp"
    kernel = project / "op_kernel" / f"{op}.cpp"
    unit.write_text(
        '#define ASCENDC_TWIN_VARIANT test\n#include "kernel_operator.h"\n'
        f'namespace test {{\n#include "{kernel}"\n}}\n'
    )
    flags = ["-std=gnu++17", "-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter", "-O0", "-c"]
    defines = [f"-D__NPU_ARCH__={arch}", "-DDTYPE_X=bfloat16_t"]
    command = ["g++", *flags, *defines, f"-I{NATIVE / 'ascendc'}", str(unit), "-o", str(tmp_path / "unit.o")]
    compiled = subprocess.run(command, capture_output=True, text=True, check=False)
    assert compiled.returncode == 0, compiled.stderr


def test_the_folder_holds_all_it_includes(project):
    own = {"kernel_operator.h", "register/op_def_registry.h", "tiling/platform/platform_ascendc.h"}  # CANN's
    for file in [*project.rglob("*.cpp"), *project.rglob("*.h")]:
        for include in re.findall(r'^#include "([^"]+)"', file.read_text(), re.MULTILINE):
            assert include in own or (file.parent / include).is_file(), f"{file}: {include}"


def test_what_to_type_is_in_the_folder(project):
    readme = (project / "README.md").read_text()
    assert "Nobody has run this build yet" in readme and "./build.sh" in readme
    assert "vendors/mine" in readme and "aclnnHcPreV2" in readme and "@" not in readme
    presets = json.loads((project / "CMakePresets.json").read_text())
    variables = presets["configurePresets"][0]["cacheVariables"]
    assert variables["vendor_name"]["value"] == "mine"
    assert variables["ASCEND_COMPUTE_UNIT"]["value"] == "ascend910b"  # as the definitions have it
    assert (project / "build.sh").stat().st_mode & 0o111
    checked = subprocess.run(["bash", "-n", str(project / "build.sh")], capture_output=True, check=False)
    assert checked.returncode == 0, checked.stderr


@pytest.mark.skipif(not shutil.which("cmake") or not shutil.which("make"), reason="needs cmake and make")
def test_the_three_commands_run(tmp_path):
    """As the README has them, with a CANN whose CMake package only checks the calls of its functions."""
    folder, cann = tmp_path / "project", tmp_path / "cann"
    opp_export.export(folder, vendor="mine", compute_unit="Ascend910_9391;Ascend910B3;ascend910b")
    package = cann / "compiler" / "tikcpp" / "ascendc_kernel_cmake"
    package.mkdir(parents=True)
    listed = f"set(OPERATORS {' '.join(opp_export.OPERATORS)})\n"
    (package / "ASCConfig.cmake").write_text(listed + (HERE / "ASCConfig.cmake").read_text())
    (cann / "set_env.sh").write_text(f"export ASCEND_HOME_PATH={cann}\n")
    readme = (folder / "README.md").read_text()
    commands = [line.strip() for line in readme.splitlines() if line.startswith("    ")]
    assert len(commands) == 3
    script = "\n".join(commands).replace("/usr/local/Ascend/cann", str(cann))
    ran = subprocess.run(
        ["bash", "-e", "-c", script], cwd=folder, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stdout.endswith("mine of type RUN for ascend910_93;ascend910b\n")


def test_build_sh_wants_cann(project):
    ran = subprocess.run(
        ["bash", str(project / "build.sh")],
        capture_output=True,
        text=True,
        env={"PATH": "/usr/bin:/bin"},
        check=False,
    )
    assert ran.returncode == 1 and "set_env.sh" in ran.stderr


def test_command(tmp_path):
    made = CliRunner().invoke(
        cli, ["export-opp", str(tmp_path / "new"), "--vendor", "x1", "--soc", "Ascend950PR_9579"]
    )
    assert made.exit_code == 0 and "README.md" in made.output, made.output
    assert (tmp_path / "new" / "op_kernel" / "hc_pre.cpp").is_file()
    again = CliRunner().invoke(cli, ["export-opp", str(tmp_path / "new")])
    assert again.exit_code == 2 and "not an empty folder" in again.output
    for option, value in (
        ("--vendor", "a/b"),
        ("--vendor", "1a"),
        ("--soc", 'x"y'),
        ("--soc", 'ascend910b"'),
        ("--soc", ""),
        ("--soc", "Ascend310P3"),  # the definitions are for none of its family
        ("--soc", "ascend910b;ascend910"),
        ("--soc", "ascend910banana"),
    ):
        bad = CliRunner().invoke(cli, ["export-opp", str(tmp_path / "other"), option, value])
        assert bad.exit_code == 2 and not (tmp_path / "other").exists()


def test_the_chips_are_those_of_the_definitions(printed, tmp_path):
    socs = printed[0]["HcPre"]["socs"]
    assert sorted(opp_export._FAMILIES) == sorted(socs)
    opp_export.export(tmp_path / "all", compute_unit=";".join(socs))
    preset = json.loads((tmp_path / "all" / "CMakePresets.json").read_text())["configurePresets"][0]
    assert preset["cacheVariables"]["ASCEND_COMPUTE_UNIT"]["value"].split(";") == socs


def test_an_installation_without_the_sources_says_so(monkeypatch, tmp_path):
    monkeypatch.setattr(opp_export, "__file__", str(tmp_path / "aclnn_py" / "opp_export.py"))
    with pytest.raises(FileNotFoundError, match="install aclnn-py again"):
        opp_export.export(tmp_path / "new")


def test_no_place_of_ours_is_named(project):
    for file in project.rglob("*"):
        if file.is_file():
            text = file.read_text()
            assert str(NATIVE) not in text, file
    assert aclnn_py.__version__ in (project / "README.md").read_text()
