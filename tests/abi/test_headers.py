"""The headers and libraries against recorded facts about CANN's: values, layouts, prototypes, exports."""

import json
import pathlib
import re
import subprocess
from collections.abc import Callable
from typing import Any

HERE = pathlib.Path(__file__).parent
DATA = HERE.parent / "data" / "abi"
RUNTIME_PARTS = ["base", "device", "event", "kernel", "memory", "memory_sharing", "model", "stream"]
HEADERS = ["acl/acl_base_rt.h", "acl/acl_rt.h", *(f"acl/rt/{part}.h" for part in RUNTIME_PARTS)]
HEADERS += ["aclnn/acl_meta.h", "aclnn/aclnn_base.h"]


def _facts(name: str) -> dict[str, Any]:
    facts: dict[str, Any] = json.loads((DATA / f"{name}.json").read_text())
    return facts


def _text(root: pathlib.Path) -> str:
    return "\n".join((root / "include" / header).read_text() for header in HEADERS)


def _exported(root: pathlib.Path) -> set[str]:
    names: set[str] = set()
    for library in ("libascendcl.so", "libnnopbase.so"):
        listing = subprocess.run(
            ["nm", "-D", "--defined-only", str(root / "lib64" / library)],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        names |= {line.split()[-1] for line in listing.splitlines()}
    return {name for name in names if re.match(r"(acl|Acl)[a-zA-Z0-9]*$", name)}


def _declared(root: pathlib.Path) -> set[str]:
    return set(re.findall(r"\b((?:acl|Acl)\w+)\(", re.sub(r"#define.*", "", _text(root))))


def test_exported_functions_are_the_declared_ones(root: pathlib.Path) -> None:
    own = {name for name in _exported(root) if name.startswith("aclemu")}
    assert _exported(root) - own == _declared(root)
    assert own == set(re.findall(r"\b(aclemu\w+)\(", (root / "include" / "aclemu.h").read_text()))


def test_the_declared_functions_are_canns(root: pathlib.Path) -> None:
    declared, facts = _declared(root), set(_facts("functions"))
    assert len(facts) > 430
    assert declared - facts == set() and facts - declared == set()


def test_symbols_of_the_cpp_side_exist(root: pathlib.Path) -> None:
    library = str(root / "lib64" / "libnnopbase.so")
    listing = subprocess.run(
        ["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True
    )
    wanted = set((DATA / "cxx_symbols.txt").read_text().split())
    assert len(wanted) == 8
    assert wanted - {line.split()[-1] for line in listing.stdout.splitlines()} == set()


def test_functions_that_public_programs_use_exist(root: pathlib.Path) -> None:
    wanted = set((DATA / "used_by_programs.txt").read_text().split())
    assert len(wanted) > 40
    assert wanted - _exported(root) == set()


def _assertions(root: pathlib.Path) -> list[str]:
    text = _text(root)
    lines: list[str] = []
    for name, values in _facts("enums").items():
        body = re.search(rf"typedef enum {name} \{{(.*?)\}} {name};", text, re.S)
        assert body is not None, f"enum {name} is not declared"
        assert set(re.findall(r"(\w+) = ", body[1])) == set(values), name
        lines.append(f"static_assert(sizeof({name}) == 4);")
        lines += [f"static_assert({key} == {value});" for key, value in values.items()]
    for name, layout in _facts("structs").items():
        assert re.search(rf"typedef (struct|union) {name} \{{", text), f"struct {name} is not declared"
        lines.append(f"static_assert(sizeof({name}) == {layout['size']});")
        lines.append(f"static_assert(alignof({name}) == {layout['align']});")
        lines += [f"static_assert(offsetof({name}, {key}) == {at});" for key, at in layout["fields"].items()]
    for name, value in _facts("macros").items():
        lines.append(f"static_assert({name} == {value});")
    for codes in _facts("status_codes").values():
        lines += [f"static_assert({name} == {code});" for name, code in codes.items()]
    for name, function in _facts("functions").items():
        parameters = ", ".join(function["parameters"])
        signature = f"{function['returns']}({parameters})"
        lines.append(f"static_assert(std::is_same_v<decltype({name}), {signature}>);")
    return lines


def test_values_layouts_and_prototypes(
    root: pathlib.Path, tmp_path: pathlib.Path, compiled: Callable[..., pathlib.Path]
) -> None:
    lines = _assertions(root)
    assert len(lines) > 1500
    source = tmp_path / "facts.cpp"
    includes = [*HEADERS, "acl/acl.h", "acl/acl_base.h", "aclnn/opdev/op_errno.h"]
    source.write_text(
        "#include <cstddef>\n#include <type_traits>\n"
        + "".join(f'#include "{header}"\n' for header in includes)
        + "\n".join(lines)
        + "\nint main() { return 0; }\n"
    )
    compiled(source)


def test_a_wrong_value_would_be_noticed(root: pathlib.Path, tmp_path: pathlib.Path) -> None:
    source = tmp_path / "wrong.cpp"
    source.write_text('#include "acl/acl.h"\nstatic_assert(ACL_BF16 == 26);\n')
    command = ["g++", "-std=c++17", "-fsyntax-only", "-I", str(root / "include"), str(source)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode != 0 and "static assertion failed" in done.stderr


def test_headers_serve_c_programs(run: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    assert "copied 16 floats" in run("consumer.c").stdout


def test_headers_serve_cpp_programs(run: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    assert "tensor [2, 3]" in run("consumer.cpp").stdout
