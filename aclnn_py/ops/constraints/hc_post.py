"""What aclnnHcPost accepts."""

from ...diagnosis.rules import (
    Addressable,
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
FLOATS = "FLOAT FLOAT16 BFLOAT16"
ALL = ("x", "residual", "post", "comb", "out")

RULES = Rules(
    "aclnnHcPost",
    arguments=(
        Tensor("x", FLOATS, "[*tokens, d]"),
        Tensor("residual", FLOATS, "[*tokens, 4, d]", like="x"),
        Tensor("post", FLOATS, "[*tokens, 4]"),
        Tensor("comb", FLOATS, "[*tokens, 4, 4]", like="post"),
        Tensor("out", FLOATS, "[*tokens, 4, d]", like="x"),
    ),
    axes={"tokens": "b, s or T"},
    checks=(
        NotNull(*ALL),
        DType(*ALL, code=NO_KERNEL),
        PublicFormat(*ALL, code=NO_KERNEL),
        Rank("x", be=(2, 3), code=TILING),
        Addressable("x", code=TILING),
        NotEmpty("x", code=TILING),
        Shape("residual", "post", "comb", "out", code=TILING),
        Value("d", about="x", between=(1, 2**30), code=TILING),
        Dense(*ALL, code=TILING),
    ),
    samples=(
        {"tokens": (2, 3), "d": 64},
        {"tokens": (5,), "d": 33},
        {"tokens": (1, 1), "d": 7168},
    ),
)
