"""What aclnnCast accepts."""

from ...diagnosis.rules import (
    Addressable,
    Attribute,
    Dense,
    DType,
    NotNull,
    PublicFormat,
    Require,
    Rules,
    Shape,
    Tensor,
    Value,
)

DTYPES = "FLOAT FLOAT16 BFLOAT16 INT32"

RULES = Rules(
    "aclnnCast",
    arguments=(
        Tensor("self", DTYPES, "[*dims]"),
        Attribute("dtype", "dtype"),
        Tensor("out", DTYPES, "[*dims]"),
    ),
    checks=(
        NotNull("self", "out"),
        DType("self", "out"),
        Require(
            "out", "out.dtype == dtype", "be {dtype}, which the argument dtype asks for", was="out.dtype"
        ),
        Value("self.rank", about="self", between=(0, 8)),
        Addressable("self"),
        Shape("out"),
        Dense("out"),
        PublicFormat("self", "out"),
    ),
    partial="CANN takes more dtypes.",
    samples=(
        {"dims": (2, 3), "dtype": "FLOAT", "dtypes": {"out": "FLOAT"}},
        {"dims": (), "dtype": "INT32", "dtypes": {"out": "INT32"}},
        {"dims": (1, 2, 1, 2, 1, 2, 1, 2), "dtype": "FLOAT", "dtypes": {"out": "FLOAT"}},
        {"dims": (2, 0, 5), "dtype": "BFLOAT16", "dtypes": {"out": "BFLOAT16"}},
    ),
)
