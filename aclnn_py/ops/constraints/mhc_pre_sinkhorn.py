"""What aclnnMhcPreSinkhorn accepts."""

from ...diagnosis.rules import (
    OFF_950,
    ON_950,
    Accept,
    Addressable,
    Attribute,
    AxisLength,
    Dense,
    DType,
    NotNull,
    PublicFormat,
    Rank,
    Rules,
    Shape,
    Tensor,
    Value,
)

INPUTS = ("x", "phi", "alpha", "bias")
MAIN = ("hin", "hPost", "hRes")
GROUP = ("hPre", "hcBeforeNorm", "invRms", "sumOut", "normOut")
BACKWARD = "needBackward"

RULES = Rules(
    "aclnnMhcPreSinkhorn",
    arguments=(
        Tensor("x", "FLOAT16 BFLOAT16", "[*tokens, n, c]"),
        Tensor("phi", "FLOAT", "[n*n + 2n, n*c]"),
        Tensor("alpha", "FLOAT", "[3]"),
        Tensor("bias", "FLOAT", "[n*n + 2n]"),
        Attribute("hcMult", "int", default=4),
        Attribute("numIters", "int", default=20),
        Attribute(
            "hcEps", "float", default=1e-6, note="added after the sigmoid of hPre and in Sinkhorn's sums"
        ),
        Attribute("normEps", "float", default=1e-6, note="added under the square root"),
        Attribute("needBackward", "bool", default=True, note="whether the last five outputs are written"),
        Tensor("hin", "FLOAT16 BFLOAT16", "[*tokens, c]", like="x"),
        Tensor("hPost", "FLOAT", "[*tokens, n]"),
        Tensor("hRes", "FLOAT", "[*tokens, n*n]"),
        Tensor("hPre", "FLOAT", "[*tokens, n]", used_if=BACKWARD),
        Tensor("hcBeforeNorm", "FLOAT", "[*tokens, n*n + 2n]", used_if=BACKWARD),
        Tensor("invRms", "FLOAT", "[*tokens, 1]", used_if=BACKWARD),
        Tensor("sumOut", "FLOAT", "[2*numIters, *tokens, n]", used_if=BACKWARD),
        Tensor("normOut", "FLOAT", "[2*numIters, *tokens, n, n]", used_if=BACKWARD),
    ),
    symbols={"n": "hcMult"},
    axes={"tokens": "b, s; or t on Ascend 950"},
    checks=(
        NotNull(*INPUTS, *MAIN, *GROUP),
        DType(*INPUTS, *MAIN, *GROUP),
        Rank("x", be=4, when=OFF_950),
        Rank("x", be=(3, 4), when=ON_950),
        Addressable("x"),
        Value("hcMult", equals=4),
        AxisLength("x", "n"),
        Value("numIters", equals=20),
        Shape("hin"),
        Rank("phi", be=2),
        Shape("phi", "alpha", "bias", "hPost", "hRes", *GROUP),
        Dense(*MAIN, *GROUP),
        PublicFormat(*INPUTS, *MAIN, *GROUP),
        Accept("x.is_empty or hin.is_empty or hPost.is_empty or hRes.is_empty", "nothing to do, workspace 0"),
        Value("c", about="x", one_of=(4096, 7168), when=ON_950),
        Value("c", about="x", multiple_of=128, between=(1, 100000), when=OFF_950),
    ),
    samples=(
        {"tokens": (2, 3), "c": 256, "soc": ("A2", "A3")},
        {"tokens": (1, 2), "c": 99968, "soc": ("A2", "A3")},
        {"tokens": (2, 3), "c": 4096, "soc": ("950",)},
        {"tokens": (5,), "c": 7168, "soc": ("950",)},
        {"tokens": (0, 3), "c": 128},
        {"tokens": (1, 3), "c": 4096, "needBackward": False},
    ),
)
