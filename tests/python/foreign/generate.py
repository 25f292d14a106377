"""Writes a library that the package has never seen: 200 operators in the forms that CANN's operators have.

    python generate.py FOLDER

makes FOLDER/include/*.h in the styles of real headers, FOLDER/custom/*.h of a custom package, an
operators.cpp for each of the two, whose operators record their raw arguments, and operators.json, the truth
that tests compare with. Same output every time.
"""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path
from typing import Any

import styles

# C types with about the frequency they have in CANN, for the operators made at random
INPUTS = ["const aclTensor *"] * 8 + ["const aclTensorList *"]
ATTRIBUTES = (
    ["int64_t"] * 6
    + ["bool", "double", "const aclIntArray *", "char *", "const char *"] * 2
    + ["const aclScalar *", "float", "int8_t", "int32_t", "int", "uint64_t", "uint32_t", "aclDataType"]
    + [
        "const aclBoolArray *",
        "const aclFloatArray *",
        "const aclScalarList *",
        "const int64_t",
        "const bool",
    ]
)
WORDS = [
    "query",
    "key",
    "value",
    "gamma",
    "beta",
    "bias",
    "scale",
    "offset",
    "mask",
    "index",
    "size",
    "mode",
    "axis",
]


def form(line: str) -> dict[str, Any]:
    """An operator from a line of forms.txt."""
    name, _, text = line.rstrip(")").partition("(")
    parameters = []
    for part in text.split(", ") if text else []:
        declared, _, way = part.partition(" !")
        kind, star, parameter = declared.rpartition("*" if "*" in declared else " ")
        kind = kind.strip() + (" *" if star == "*" else "")
        is_tensor = kind.removeprefix("const ") in ("aclTensor *", "aclTensorList *")
        role = way or ("attr" if not is_tensor else "in" if kind.startswith("const") else "out")
        parameters.append({"type": kind, "name": parameter, "role": role})
    return {"name": name, "parameters": parameters}


def random_operator(rng: random.Random, i: int) -> dict[str, Any]:
    """Up to 50 parameters: inputs, then attributes, then outputs; one in four in another order."""
    count = rng.choice([2, 3, 4, 5, 6, 8, 10, 14, 20, 30, 50])
    generated = rng.random() < 0.4  # as the vendor's generator writes them: outputs const and named ...Out
    parameters: list[dict[str, str]] = []
    outputs = rng.randint(1, max(1, min(4, count // 3)))
    for n in range(count):
        word = f"{rng.choice(WORDS)}{n}"
        if n < (count - outputs) // 2:
            name = word + rng.choice(["", "", "Optional"])
            parameters.append({"type": rng.choice(INPUTS), "name": name, "role": "in"})
        elif n < count - outputs:
            parameters.append({"type": rng.choice(ATTRIBUTES), "name": word, "role": "attr"})
        elif generated:
            name = "out" if outputs == 1 else word + "Out"
            parameters.append({"type": "const aclTensor *", "name": name, "role": "out"})
        else:
            listed = rng.random() < 0.15
            kind = "aclTensorList *" if listed else "aclTensor *"
            parameters.append({"type": kind, "name": word + rng.choice(["", "Out"]), "role": "out"})
    if not generated and rng.random() < 0.25:
        rng.shuffle(parameters)
    prefix = "aclnnInner" if i % 37 == 5 else "aclnn"
    return {"name": f"{prefix}Foreign{'ABCDEFGH'[i % 8]}{i}", "parameters": parameters}


def operators() -> list[dict[str, Any]]:
    rng = random.Random(20)
    lines = Path(__file__).with_name("forms.txt").read_text().splitlines()[1:]
    made = [form(line) for line in lines]
    made += [random_operator(rng, i) for i in range(200 - len(made))]
    for i, operator in enumerate(made):
        operator["custom"] = i % 11 == 3
        operator["largest"] = i % 17 == 2
    return made


def definition(operator: dict[str, Any]) -> str:
    """C++ that records each argument as it came; a bool as a byte, so that any value but 0 and 1 shows."""
    other = {"bool": "unsigned char", "aclDataType": "int", "aclFormat": "int"}
    parameters, record = [], ""
    for p in operator["parameters"]:
        kind = p["type"]
        bare = kind.removeprefix("const ")
        parameters.append(f"{kind.replace(bare, other.get(bare, bare))} p_{p['name']}")
        cast = f"static_cast<const {bare}>" if "*" in bare else ""
        record += f'\n        .Add("{p["name"]}", {cast}(p_{p["name"]}))'
    record = record or '.Add("none", 0)'
    name = operator["name"]
    listed = ", ".join([*parameters, "uint64_t *size", "aclOpExecutor **executor"])
    text = f"""
EXPORT int {name}GetWorkspaceSize({listed}) {{
    Recorder all;
    all{record};
    record = all.Text();
    return Finish({{[](void *) {{ return 0; }}}}, 0, size, executor);
}}
PHASE2({name})
"""
    if operator["largest"]:
        text += f"""
EXPORT int {name}GetMaxWorkspaceSize({listed}) {{
    *size = {len(parameters)};
    *executor = nullptr;
    return 0;
}}
"""
    return text


def write(folder: Path) -> None:
    every = operators()
    rng = random.Random(4)
    for place, chosen in (
        ("include", [o for o in every if not o["custom"]]),
        ("custom", [o for o in every if o["custom"]]),
    ):
        target = folder / place
        target.mkdir(parents=True, exist_ok=True)
        for name, text in styles.headers(chosen, rng):
            (target / name).write_text(text)
        source = '#include "operator.h"\n\nstatic std::string record;\n\n'
        source += f"EXPORT const char *stubRecord_{place}() {{ return record.c_str(); }}\n\n"
        (target / "operators.cpp").write_text(source + "".join(map(definition, chosen)))
    (folder / "operators.json").write_text(json.dumps(every, indent=1))


if __name__ == "__main__":
    write(Path(sys.argv[1]))
