"""What aclnnMhcSinkhorn accepts."""

from ...diagnosis.rules import (
    Addressable,
    Attribute,
    DType,
    NotEmpty,
    NotNull,
    OnlyOn,
    PublicFormat,
    Rank,
    Require,
    Rules,
    SameFormat,
    Shape,
    Tensor,
    Value,
)

SLOTS = ("normOut", "sumOut")

RULES = Rules(
    "aclnnMhcSinkhorn",
    arguments=(
        Tensor("x", "FLOAT", "[*tokens, n, n]"),
        Attribute("eps", "float", default=1e-6, note="a C float"),
        Attribute("numIters", "int", default=20),
        Tensor("output", "FLOAT", "[*tokens, n, n]"),
        # A tensor of one element counts as left out, as frameworks pass it.
        Tensor("normOut", "FLOAT", "[2*numIters*T*n*8]", optional=True, used_if="normOut.size != 1"),
        Tensor("sumOut", "FLOAT", "[2*numIters*T*8]", optional=True, used_if="sumOut.size != 1"),
    ),
    symbols={
        "n": "x.shape[-1]",
        "tokens": "x.shape[:-2]",
        "T": "prod(x.shape[:-2])",
    },
    axes={"tokens": "b, s or t", "T": "the number of tokens"},
    checks=(
        NotNull("x", "output"),
        Addressable("x"),
        Require("sumOut", "given('normOut') and normOut.size != 1", "be given together with normOut"),
        Require("normOut", "given('sumOut') and sumOut.size != 1", "be given together with sumOut"),
        Rank("normOut", "sumOut", be=1),
        Shape("normOut", "sumOut"),
        DType("x", "output", *SLOTS),
        Shape("output", be="[*x.shape]"),
        Value("numIters", between=(1, 100)),
        Rank("x", be=(3, 4)),
        Require(
            "x", "x.shape[-1] == x.shape[-2] and n in (4, 6, 8)", "have two equal last axes of 4, 6 or 8"
        ),
        PublicFormat("x", "output"),
        SameFormat("output", like="x"),
        PublicFormat(*SLOTS),
        NotEmpty("x"),
        OnlyOn("950", about="x"),
    ),
    samples=(
        {"tokens": (2, 3), "n": 4, "T": 6, "soc": ("950",)},
        {"tokens": (5,), "n": 8, "T": 5, "numIters": 3, "soc": ("950",)},
        {"tokens": (7,), "n": 6, "T": 7, "numIters": 100, "normOut": None, "sumOut": None, "soc": ("950",)},
    ),
)
