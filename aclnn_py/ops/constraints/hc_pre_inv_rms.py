"""What aclnnHcPreInvRms accepts."""

from ...diagnosis.rules import (
    Addressable,
    Attribute,
    Dense,
    DType,
    NotEmpty,
    NotNull,
    PublicFormat,
    Rank,
    Require,
    Rules,
    Shape,
    Tensor,
)

NO_KERNEL, TILING = 561003, 561002

RULES = Rules(
    "aclnnHcPreInvRms",
    arguments=(
        Tensor("x", "FLOAT FLOAT16 BFLOAT16", "[*tokens, n, d] | [*tokens, m]"),
        Attribute("epsilon", "float", default=1e-6, note="added to the mean of the squares"),
        Tensor("out", "FLOAT", "[*tokens, 1]"),
    ),
    symbols={
        "tokens": "x.shape[:-1] if x.rank == 2 or (x.rank == 3 and out.rank == 3) else x.shape[:-2]",
    },
    axes={
        "tokens": "b, s or T: the axes of x without its last two; without its last if it has 2, or 3 as out",
        "m": "n*d",
    },
    checks=(
        NotNull("x", "out"),
        DType("x", "out", code=NO_KERNEL),
        PublicFormat("x", "out", code=NO_KERNEL),
        Rank("x", be=(2, 3, 4), code=TILING),
        Addressable("x", code=TILING),
        NotEmpty("x", code=TILING),
        Dense("x", code=TILING),
        Require("epsilon", "epsilon > 2.0**-150", "be greater than 0 in float32", code=TILING),
        Shape("out", code=TILING),
        Dense("out", code=TILING),
    ),
    samples=(
        {"tokens": (2, 3), "n": 4, "d": 64, "m": 256},
        {"tokens": (5,), "n": 4, "d": 7168, "m": 7},
        {"tokens": (1, 1), "n": 3, "d": 33, "m": 4096, "epsilon": 1e-20},
    ),
)
