"""What aclnnMhcPostBackward accepts."""

from ...diagnosis.rules import (
    OFF_950,
    ON_950,
    Addressable,
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

INPUTS = ("gradOutput", "x", "hRes", "hOut", "hPost")
OUTPUTS = ("gradX", "gradHres", "gradHout", "gradHpost")

RULES = Rules(
    "aclnnMhcPostBackward",
    arguments=(
        Tensor("gradOutput", "FLOAT16 BFLOAT16", "[*tokens, n, D]"),
        Tensor("x", "FLOAT16 BFLOAT16", "[*tokens, n, D]", like="gradOutput"),
        Tensor("hRes", "FLOAT", "[*tokens, n, n]", optional=True, note="NULL is the identity, on Ascend 950"),
        Tensor("hOut", "FLOAT16 BFLOAT16", "[*tokens, D]", like="x"),
        Tensor("hPost", "FLOAT", "[*tokens, n]"),
        Tensor("gradX", "", "[*tokens, n, D]", like="x"),
        Tensor("gradHres", "FLOAT", "[*tokens, n, n]"),
        Tensor("gradHout", "", "[*tokens, D]", like="hOut"),
        Tensor("gradHpost", "FLOAT", "[*tokens, n]"),
    ),
    symbols={"tokens": "x.shape[:-2]", "n": "x.shape[-2]", "D": "x.shape[-1]"},
    axes={"tokens": "b, s or t"},
    checks=(
        NotNull("gradOutput", "x"),
        NotNull("hRes", when=OFF_950),
        NotNull("hOut", "hPost", *OUTPUTS),
        NotEmpty(*INPUTS),
        PublicFormat(*INPUTS, *OUTPUTS),
        DType(*INPUTS, *OUTPUTS),
        Rank("x", be=(3, 4)),
        Addressable("x"),
        Value("n", about="x", equals=4, when=OFF_950),
        Value("n", about="x", one_of=(4, 6, 8), when=ON_950),
        Value("D", about="x", multiple_of=128, between=(1, 100000)),
        Rank("gradOutput", "hRes", be="x.rank"),
        Rank("hOut", "hPost", be="x.rank - 1"),
        Rank("gradX", "gradHres", be="x.rank"),
        Rank("gradHout", "gradHpost", be="x.rank - 1"),
        Shape("gradOutput", "hRes", "hOut", "hPost", *OUTPUTS),
    ),
    samples=(
        {"tokens": (2, 3), "n": 4, "D": 128},
        {"tokens": (3,), "n": 4, "D": 99968},
        {"tokens": (7,), "n": 6, "D": 256, "soc": ("950",)},
        {"tokens": (2, 3), "n": 8, "D": 384, "soc": ("950",)},
        {"tokens": (2, 3), "n": 4, "D": 128, "hRes": None, "soc": ("950",)},
    ),
)
