"""What aclnnHcPreSinkhorn accepts."""

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
INPUTS = ("mixes", "rsqrt", "hcScale", "hcBase", "x")
OUTPUTS = ("yOut", "postOut", "combFragOut")

RULES = Rules(
    "aclnnHcPreSinkhorn",
    arguments=(
        Tensor("mixes", "FLOAT", "[*tokens, 24]"),
        Tensor("rsqrt", "FLOAT", "[*tokens, 1] | [*tokens]"),
        Tensor("hcScale", "FLOAT", "[3]"),
        Tensor("hcBase", "FLOAT", "[24]"),
        Tensor("x", "BFLOAT16", "[*tokens, 4, d]"),
        Attribute("hcMult", "int", default=4),
        Attribute("hcSinkhornIters", "int", default=20),
        Attribute(
            "hcEps",
            "float",
            default=1e-6,
            note="added after the sigmoid of the weights and in Sinkhorn's sums",
        ),
        Tensor("yOut", "BFLOAT16", "[*tokens, d]"),
        Tensor("postOut", "FLOAT", "[*tokens, 4]"),
        Tensor("combFragOut", "FLOAT", "[*tokens, 4, 4]"),
    ),
    symbols={"tokens": "mixes.shape[:-1]", "d": "x.shape[-1]"},
    axes={"tokens": "b, s or T"},
    checks=(
        NotNull(*INPUTS, *OUTPUTS),
        DType(*INPUTS, *OUTPUTS, code=NO_KERNEL),
        PublicFormat(*INPUTS, *OUTPUTS, code=NO_KERNEL),
        Rank("mixes", be=(2, 3), code=TILING),
        Addressable("mixes", code=TILING),
        NotEmpty("mixes", code=TILING),
        Shape("mixes", "rsqrt", "hcScale", "hcBase", code=TILING),
        Rank("x", be="mixes.rank + 1", code=TILING),
        Addressable("x", code=TILING),
        NotEmpty("x", code=TILING),
        Shape("x", code=TILING),
        Value("d", about="x", between=(1, 2**30), code=TILING),
        Value("hcMult", equals=4, code=TILING),
        Value("hcSinkhornIters", between=(1, 100), code=TILING),
        Shape(*OUTPUTS, code=TILING),
        Dense(*INPUTS, *OUTPUTS, code=TILING),
    ),
    samples=(
        {"tokens": (2, 3), "d": 64},
        {"tokens": (5,), "d": 33},
        {"tokens": (1, 1), "d": 4096, "hcSinkhornIters": 3},
    ),
)
