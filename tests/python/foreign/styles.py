"""Ways of writing an operator's declarations, after those of CANN's headers."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

Operator = dict[str, Any]
TAIL = [("uint64_t *", "workspaceSize"), ("aclOpExecutor **", "executor")]
PHASE2 = [("void *", "workspace"), ("uint64_t ", "workspaceSize"), ("aclOpExecutor *", "executor"),
          ("aclrtStream ", "stream")]  # fmt: skip


def _pairs(operator: Operator) -> list[tuple[str, str]]:
    return [(p["type"] + ("" if p["type"].endswith("*") else " "), p["name"]) for p in operator["parameters"]]


def documented(operator: Operator, rng: random.Random) -> str:
    """Doxygen before each phase, a visibility macro, wrapped lines."""
    name = operator["name"]
    ways = {"attr": "in", "inout": "in,out"}
    lines = "".join(
        f" * @param [{ways.get(p['role'], p['role'])}] {p['name']}: as {name}GetWorkspaceSize(x) wants it.\n"
        for p in operator["parameters"]
    )
    wrapped = ""
    row = f"ACL_FUNC_VISIBILITY aclnnStatus {name}GetWorkspaceSize("
    for kind, parameter in [*_pairs(operator), *TAIL]:
        piece = f"{kind}{parameter}, "
        if len(row) + len(piece) > 100:
            wrapped += row.rstrip() + "\n"
            row = " " * 12
        row += piece
    wrapped += row[:-2] + ");"
    return f"""/**
 * @brief The first interface of {name}: plans, and tells the workspace size.
 * @domain foreign
{lines} * @param [out] workspaceSize: bytes.
 * @param [out] executor: the plan.
 * @return aclnnStatus: a code.
 */
{wrapped}

/** @brief The second interface. */
ACL_FUNC_VISIBILITY aclnnStatus {name}(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
    const aclrtStream stream);
"""


def generated(operator: Operator, rng: random.Random) -> str:
    """One parameter a line, an attribute in front, and a comment that lists the parameters without types."""
    name = operator["name"]
    listed = "".join(
        f" * {p['name']} : {rng.choice(['required', 'optional', 'dynamic'])}\n"
        for p in operator["parameters"]
    )
    first = ",\n    ".join(f"{kind}{parameter}" for kind, parameter in [*_pairs(operator), *TAIL])
    second = ",\n    ".join(f"{kind}{parameter}" for kind, parameter in PHASE2)
    return f"""/* function: {name}GetWorkspaceSize
 * parameters :
{listed} * workspaceSize : size of workspace(output).
 */
__attribute__((visibility("default")))
aclnnStatus {name}GetWorkspaceSize(
    {first});

__attribute__((visibility("default")))
aclnnStatus {name}(
    {second});
"""


def east_const(operator: Operator, rng: random.Random) -> str:
    """`T const *`, hardly a space."""
    parameters = []
    for kind, parameter in [*_pairs(operator), *TAIL]:
        if kind.startswith("const ") and "*" in kind:
            kind = kind.removeprefix("const ").replace(" *", " const*")
        parameters.append(f"{kind}{parameter}".replace(" *", "*"))
    name = operator["name"]
    first = f"aclnnStatus {name}GetWorkspaceSize({','.join(parameters)});"
    return f"{first}aclnnStatus {name}(void*,uint64_t,aclOpExecutor*,aclrtStream);\n"


def deprecated(operator: Operator, rng: random.Random) -> str:
    """Attributes and macros on all sides, messages with brackets and the operator's own name in them."""
    name = operator["name"]
    phase1 = f"{name}GetWorkspaceSize"
    parameters = ", ".join(f"{kind}{parameter}" for kind, parameter in [*_pairs(operator), *TAIL])
    before = rng.choice(
        [
            f'ACL_DEPRECATED_MESSAGE("{phase1} (this one) goes, "\n    "use {name}V9(x); instead")\n'
            "ACL_FUNC_VISIBILITY aclnnStatus",
            f'aclnnStatus __attribute__((deprecated("int {phase1}(int); // old"))) ',
            f'[[deprecated("see {phase1}(...)")]] __attribute__((visibility("default"))) aclnnStatus',
            "ACLNN_API\naclnnStatus\n",
            "ACL_SINCE(8, 2) ACLNN_API aclnnStatus",
        ]
    )
    after = rng.choice(
        ["", ' __attribute__((warning("aclnn (old)")))', " ACL_NOEXCEPT", ' ACL_DEPRECATED("gone")']
    )
    return f"""{before} {phase1}({parameters}){after};
ACLNN_API aclnnStatus {name}(void *workspace, const uint64_t workspaceSize, aclOpExecutor *executor,
                  aclrtStream stream){after};
"""


def commented(operator: Operator, rng: random.Random) -> str:
    """Comments where one would not look for them, IN macros, another name for the executor."""
    noise = ["/* , */", "// int64_t no, (\n   ", "/* aclTensor *hidden, */", "\n\n", "\t", " "]
    parameters = []
    for kind, parameter in _pairs(operator):
        way = rng.choice(["", "", "IN ", "ACL_IN "]) if kind.startswith("const ") else ""
        gaps = rng.choice(noise), rng.choice(["", " "]), rng.choice(noise)
        parameters.append(f"{gaps[0]}{way}{kind}{gaps[1]}{parameter}{gaps[2]}")
    first = ",".join([*parameters, "uint64_t *workspaceSize", "aclOpExecutor **opExecutor"])
    name = operator["name"]
    return f"""extern aclnnStatus
{name}GetWorkspaceSize
({first}) ; // NOLINT({name})
extern aclnnStatus {name}(void *, uint64_t, aclOpExecutor *, aclrtStream);
"""


STYLES: list[Callable[[Operator, random.Random], str]] = [
    documented,
    generated,
    east_const,
    deprecated,
    commented,
]
SURROUNDINGS = """
typedef struct ForeignPair { int64_t first; void (*release)(void *, int); } ForeignPair;
typedef aclnnStatus (*ForeignCallback)(const aclTensor *, uint64_t *, aclOpExecutor **);
enum ForeignMode { FOREIGN_FAST = 0, FOREIGN_EXACT = (1 << 2) };
struct ForeignForward;
static const int FOREIGN_LIMIT = (3 + 4);
static inline uint64_t ForeignRound(uint64_t n) { if (n) { return (n + 31) / 32 * 32; } return 0; }
"""
HELPERS = """
ACL_FUNC_VISIBILITY aclnnStatus aclnnForeignTableSize(const aclIntArray *shape, aclDataType dtype,
    uint64_t *size);
ACL_FUNC_VISIBILITY aclnnStatus aclnnForeignTables(const float *scale, uint64_t n, uint64_t **table,
    uint64_t &count);
"""
UNREADABLE = """
aclnnStatus aclnnForeignOddGetWorkspaceSize(const aclTensor *x, const aclMystery *y, uint64_t *workspaceSize,
                                            aclOpExecutor **executor);
FOREIGN_DECLARE(aclnnForeignMacro);
FOREIGN_DECLARE(aclnnForeignBare)
aclnnStatus aclnnForeignShortGetWorkspaceSize(const aclTensor *x, uint64_t *workspaceSize);
"""


def headers(operators: list[Operator], rng: random.Random) -> Iterator[tuple[str, str]]:
    """(file name, text) of headers with one to five operators each."""
    start = number = 0
    while start < len(operators):
        count = rng.choice([1, 1, 2, 5])
        yield _header(f"aclnn_foreign_{number}.h", operators[start : start + count], rng, number)
        start += count
        number += 1


def _header(name: str, chosen: list[Operator], rng: random.Random, number: int) -> tuple[str, str]:
    guard = name.upper().replace(".", "_")
    text = "/*\n * A header of operators; aclnnStatus aclnnNotHereGetWorkspaceSize(int x);\n */\n"
    text += f"#ifndef {guard}\n#define {guard}\n"
    text += '#define ACLNN_API \\\n    __attribute__((visibility("default"))) '
    text += "/* aclnnStatus aclnnNorGetWorkspaceSize(); */\n"
    text += '#include "aclnn/acl_meta.h"\n'
    if number % 3 == 0:
        text += SURROUNDINGS
    text += '#ifdef __cplusplus\nextern "C" {\n#endif\n\n'
    for operator in chosen:
        style = rng.choice(STYLES)
        if style is not documented and style is not commented and rng.random() < 0.1:
            text += (
                "#if 0\naclnnStatus aclnnDisabledGetWorkspaceSize(uint64_t *s, aclOpExecutor **e);\n#endif\n"
            )
        text += style(operator, rng) + "\n"
        if operator["largest"]:
            parameters = ", ".join(f"{kind}{p}" for kind, p in [*_pairs(operator), *TAIL])
            text += f"ACLNN_API aclnnStatus {operator['name']}GetMaxWorkspaceSize({parameters});\n"
    if number % 5 == 0:
        text += HELPERS
    if number == 7:
        text += UNREADABLE
    text += "\n#ifdef __cplusplus\n}\n#endif\n#endif // " + guard + "\n"
    return name, text.replace("\n", "\r\n") if number % 13 == 4 else text
