"""What aclnnAdd accepts."""

from ...diagnosis.rules import (
    Addressable,
    Dense,
    DType,
    NotNull,
    PublicFormat,
    Require,
    Rules,
    Scalar,
    Shape,
    Tensor,
    Value,
)

RULES = Rules(
    "aclnnAdd",
    arguments=(
        Tensor("self", "FLOAT FLOAT16 BFLOAT16 INT32", "[*dims]"),
        Tensor("other", "", "[*dims]", like="self"),
        Scalar("alpha", note="other is multiplied by it"),
        Tensor("out", "", "[*dims]", like="self"),
    ),
    checks=(
        NotNull("self", "other", "alpha", "out"),
        DType("self", "other", "out"),
        Require(
            "alpha",
            "self.dtype != 'INT32' or alpha.dtype not in ('FLOAT', 'FLOAT16', 'BFLOAT16', 'DOUBLE')",
            "be an integer if self is INT32",
            was="alpha.dtype",
        ),
        Value("self.rank", about="self", between=(0, 8)),
        Addressable("self"),
        Shape("other", "out"),
        Dense("out"),
        PublicFormat("self", "other", "out"),
    ),
    partial="CANN also broadcasts, promotes dtypes and takes more of them.",
    samples=(
        {"dims": (2, 3)},
        {"dims": ()},
        {"dims": (2, 0, 5)},
        {"dims": (1, 2, 1, 2, 1, 2, 1, 2), "alpha": 1.5, "dtypes": {"self": "FLOAT16"}},
    ),
)
