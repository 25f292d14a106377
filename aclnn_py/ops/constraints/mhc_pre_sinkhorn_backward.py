"""What aclnnMhcPreSinkhornBackward accepts."""

from ...diagnosis.rules import (
    OFF_950,
    ON_950,
    Accept,
    Addressable,
    Attribute,
    DType,
    NotNull,
    PublicFormat,
    Rank,
    Require,
    Rules,
    Shape,
    Tensor,
    Value,
)

GRADIENTS = ("gradHin", "gradHPost", "gradHRes")
WEIGHTS = ("phi", "alpha", "bias")
SAVED = ("hPre", "hcBeforeNorm", "invRms", "sumOut", "normOut")
OUTPUTS = ("gradX", "gradPhi", "gradAlpha", "gradBias")
ALL = (*GRADIENTS, "x", *WEIGHTS, *SAVED, *OUTPUTS)
OF_TOKENS = (*GRADIENTS, "x", *SAVED)

RULES = Rules(
    "aclnnMhcPreSinkhornBackward",
    arguments=(
        Tensor("gradHin", "FLOAT16 BFLOAT16", "[*tokens, c]"),
        Tensor("gradHPost", "FLOAT", "[*tokens, n]"),
        Tensor("gradHRes", "FLOAT", "[*tokens, n*n] | [*tokens, n, n]"),
        Tensor("x", "FLOAT16 BFLOAT16", "[*tokens, n, c]", like="gradHin"),
        Tensor("phi", "FLOAT", "[n*n + 2n, n*c]"),
        Tensor("alpha", "FLOAT", "[3]"),
        Tensor("bias", "FLOAT", "[n*n + 2n]"),
        Tensor("hPre", "FLOAT", "[*tokens, n]"),
        Tensor("hcBeforeNorm", "FLOAT", "[*tokens, n*n + 2n]"),
        Tensor("invRms", "FLOAT", "[*tokens, 1]"),
        Tensor("sumOut", "FLOAT", "[slots, *tokens, n]"),
        Tensor("normOut", "FLOAT", "[slots, *tokens, n, n]"),
        Attribute("hcEps", "float", default=1e-6, note="the forward operator's"),
        Tensor("gradX", "FLOAT16 BFLOAT16", "[*tokens, n, c]", like="x"),
        Tensor("gradPhi", "FLOAT", "[n*n + 2n, n*c]"),
        Tensor("gradAlpha", "FLOAT", "[3]"),
        Tensor("gradBias", "FLOAT", "[n*n + 2n]"),
    ),
    symbols={
        "tokens": "x.shape[:-2]",
        "n": "x.shape[-2]",
        "c": "x.shape[-1]",
        "slots": "sumOut.shape[0]",
    },
    axes={"tokens": "b, s; or t on Ascend 950"},
    checks=(
        NotNull(*ALL),
        Accept(" or ".join(f"{name}.is_empty" for name in OF_TOKENS), "nothing to do, workspace 0"),
        Rank("x", be=4, when=OFF_950),
        Rank("x", be=(3, 4), when=ON_950),
        Rank("gradHin", "gradHPost", be="x.rank - 1"),
        Require(
            "gradHRes", "x.rank - 1 <= gradHRes.rank <= x.rank", "have {x.rank - 1} or {x.rank} dimensions"
        ),
        Rank("phi", be=2),
        Rank("alpha", "bias", be=1),
        Rank("hPre", "hcBeforeNorm", "invRms", be="x.rank - 1"),
        Rank("sumOut", be="x.rank"),
        Rank("normOut", be="x.rank + 1"),
        Rank("gradX", be="x.rank"),
        Rank("gradPhi", be=2),
        Rank("gradAlpha", "gradBias", be=1),
        Addressable("x"),
        Shape(*GRADIENTS, *WEIGHTS, "hPre", "hcBeforeNorm", "invRms"),
        Require(
            "sumOut",
            "slots > 0 and slots % 2 == 0",
            "have an even number of slots in axis 0, two per iteration",
        ),
        Shape("sumOut", "normOut"),
        Addressable("normOut"),
        Shape(*OUTPUTS),
        DType(*ALL),
        PublicFormat(*ALL),
        Value("n", about="x", equals=4, when=OFF_950),
        Value("n", about="x", between=(1, 8), when=ON_950),
        Value("c", about="x", multiple_of=128, below=100000),
    ),
    samples=(
        {"tokens": (2, 3), "n": 4, "c": 128, "slots": 40},
        {"tokens": (1, 1), "n": 4, "c": 99968, "slots": 2},
        {"tokens": (7,), "n": 8, "c": 256, "slots": 40, "soc": ("950",)},
        {"tokens": (2, 3), "n": 1, "c": 384, "slots": 40, "soc": ("950",)},
        {"tokens": (0, 3), "n": 4, "c": 128, "slots": 40},
        {"tokens": (2, 3), "n": 4, "c": 256, "slots": 40, "dtypes": {"gradHin": "FLOAT16"}},
    ),
)
