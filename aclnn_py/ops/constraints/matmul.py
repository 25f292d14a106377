"""What aclnnMatmul of the emulator accepts; CANN's accepts more."""

from ...diagnosis.rules import (
    Addressable,
    Attribute,
    Dense,
    DType,
    NotNull,
    PublicFormat,
    Rank,
    Require,
    Rules,
    Shape,
    Tensor,
)

DTYPES = "FLOAT FLOAT16 BFLOAT16"

RULES = Rules(
    "aclnnMatmul",
    arguments=(
        Tensor("self", DTYPES, "[m, k]"),
        Tensor("mat2", DTYPES, "[k, n]", like="self"),
        Tensor("out", DTYPES, "[m, n]", like="self"),
        Attribute("cubeMathType", "int", default=0, note="0 keep, 1 and 3 FLOAT in HF32, 2 FLOAT16"),
    ),
    checks=(
        NotNull("self", "mat2", "out"),
        DType("self", "mat2", "out"),
        Rank("self", "mat2", be=2),
        Addressable("self", "mat2"),
        Require("mat2", "mat2.shape[0] == k", "have {k} rows, the columns of self", was="mat2.shape"),
        Shape("out"),
        Require("self", "k > 0 or out.is_empty", "have at least one column", was="self.shape"),
        Require(
            "cubeMathType",
            "cubeMathType in (0, 1, 3) or (cubeMathType == 2 and self.dtype == 'FLOAT16')",
            "be 0, 1 or 3, or 2 for FLOAT16",
        ),
        Dense("out"),
        PublicFormat("self", "mat2", "out"),
    ),
    partial="CANN also takes vectors, up to six dimensions with broadcasting, and mixed dtypes.",
    samples=(
        {"m": 3, "k": 5, "n": 7},
        {"m": 17, "k": 64, "n": 24, "dtypes": {"self": "FLOAT16"}, "cubeMathType": 2},
        {"m": 1, "k": 1, "n": 1, "dtypes": {"self": "FLOAT"}, "cubeMathType": 3},
        {"m": 0, "k": 4, "n": 2},
    ),
)
