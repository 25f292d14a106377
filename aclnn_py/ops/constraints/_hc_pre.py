"""What aclnnHcPre and aclnnHcPreV2 have in common."""

from __future__ import annotations

from ...diagnosis.rules import (
    Addressable,
    Attribute,
    Dense,
    DType,
    NotEmpty,
    NotNull,
    PublicFormat,
    Rank,
    Rules,
    Shape,
    Tensor,
    Value,
)

NO_KERNEL, TILING = 561003, 561002


def hc_pre_rules(operator: str, *, v2: bool) -> Rules:
    """The rules of either operator; V2 has preMixOptional and hcPreOut besides."""
    inputs = [
        Tensor("x", "BFLOAT16", "[*tokens, 4, d]"),
        Tensor("hcFn", "FLOAT", "[24, 4*d]"),
        Tensor("hcScale", "FLOAT", "[3]"),
        Tensor("hcBase", "FLOAT", "[24]"),
    ]
    outputs = [
        Tensor("yOut", "BFLOAT16", "[*tokens, d]"),
        Tensor("postOut", "FLOAT", "[*tokens, 4]"),
        Tensor("combFragOut", "FLOAT", "[*tokens, 4, 4]"),
    ]
    if v2:
        inputs.append(Tensor("preMixOptional", "FLOAT", "[*tokens, 4]", optional=True))
        outputs.append(Tensor("hcPreOut", "FLOAT", "[*tokens, 4]"))
    attributes = [
        Attribute("hcMult", "int", default=4),
        Attribute("hcSinkhornIters", "int", default=20),
        Attribute("hcEps", "float", default=1e-6, note="added to the sigmoid of pre and Sinkhorn's sums"),
        Attribute("normEps", "float", default=1e-6, note="added under the square root"),
    ]
    names = [tensor.name for tensor in (*inputs, *outputs)]
    samples: list[dict[str, object]] = [
        {"tokens": (2, 3), "d": 4096},
        {"tokens": (5,), "d": 7168},
        {"tokens": (1, 1), "d": 5120},
    ]
    if v2:
        samples.append({"tokens": (3,), "d": 4096, "preMixOptional": None})
    return Rules(
        operator,
        arguments=(*inputs, *attributes, *outputs),
        axes={"tokens": "b, s or T"},
        checks=(
            NotNull(*(name for name in names if name != "preMixOptional")),
            DType(*names, code=NO_KERNEL),
            PublicFormat(*names, code=NO_KERNEL),
            Rank("x", be=(3, 4), code=TILING),
            Addressable("x", code=TILING),
            NotEmpty("x", code=TILING),
            Value("x.shape[-2]", about="x", equals=4, code=TILING),
            Value("d", about="x", one_of=(4096, 5120, 7168), code=TILING),
            Shape(*(tensor.name for tensor in inputs[1:]), code=TILING),
            Value("hcMult", equals=4, code=TILING),
            Value("hcSinkhornIters", equals=20, code=TILING),
            Shape(*(tensor.name for tensor in outputs), code=TILING),
            Dense(*names, code=TILING),
        ),
        samples=tuple(samples),
    )
