"""What aclnnMhcPre and aclnnMhcPreV2 accept: the second has one attribute more."""

from ...diagnosis.rules import (
    OFF_950,
    ON_950,
    Addressable,
    AllOrNone,
    Attribute,
    DType,
    NotEmpty,
    NotNull,
    PublicFormat,
    Rank,
    Require,
    Rules,
    Shape,
    Tensor,
    Value,
)

INPUTS = ("x", "phi", "alpha", "bias")
GROUP = ("invRmsOptional", "hMixOptional", "hPreOptional")
OUTPUTS = ("hIn", "hPost", "hRes", *GROUP)
HAS_RES = "alpha.shape[0] == 3"
ALL_OR_NONE = "all three of the group or none"


def rules(name: str, *, mode: bool) -> Rules:
    attribute = Attribute("opImplMode", "int", default=0, note="the product with phi: 0 FP32, 1 HF32")
    return Rules(
        name,
        arguments=(
            Tensor("x", "FLOAT16 BFLOAT16", "[*tokens, n, D]"),
            Tensor("phi", "FLOAT", "[rows, n*D]"),
            Tensor("alpha", "FLOAT", "[scales]", note="[3], or [2] for no hRes"),
            Tensor("bias", "FLOAT", "[rows]"),
            Tensor("gammaOptional", "FLOAT", "[n, D]", optional=True, note="x is multiplied with it for phi"),
            Attribute("normEps", "float", default=1e-6, note="added under the square root"),
            Attribute(
                "hcEps", "float", default=1e-6, note="added to hPre; with an alpha of [2] to hPost too"
            ),
            *((attribute,) if mode else ()),
            Tensor("hIn", "", "[*tokens, D]", like="x"),
            Tensor("hPost", "FLOAT", "[*tokens, n]"),
            Tensor(
                "hRes", "FLOAT", "[*tokens, n, n]", used_if=HAS_RES, note="not written with an alpha of [2]"
            ),
            Tensor("invRmsOptional", "FLOAT", "[*tokens]", optional=True, note=ALL_OR_NONE),
            Tensor("hMixOptional", "FLOAT", "[*tokens, rows]", optional=True, note=ALL_OR_NONE),
            Tensor("hPreOptional", "FLOAT", "[*tokens, n]", optional=True, note=ALL_OR_NONE),
        ),
        symbols={
            "tokens": "x.shape[:-2]",
            "n": "x.shape[-2]",
            "D": "x.shape[-1]",
            "rows": f"n*n + 2*n if {HAS_RES} else 2*n",
        },
        axes={
            "tokens": "B, S or T",
            "scales": "3 or 2",
            "rows": "n*n + 2n with an alpha of [3], 2n with [2]",
        },
        checks=(
            NotNull(*INPUTS, "hIn", "hPost"),
            NotEmpty(*INPUTS),
            Rank("x", be=(3, 4)),
            Addressable("x"),
            Rank("phi", be=2),
            Rank("alpha", "bias", be=1),
            Rank("gammaOptional", be=2),
            Require("alpha", "alpha.shape[0] in (2, 3)", "be [3], or [2] for no hRes", spoils=True),
            NotNull("hRes", when=HAS_RES),
            Rank("hIn", "hPost", be="x.rank - 1"),
            Rank("hRes", be="x.rank"),
            AllOrNone(*GROUP),
            Rank("invRmsOptional", be="x.rank - 2"),
            Rank("hMixOptional", "hPreOptional", be="x.rank - 1"),
            Value("n", about="x", one_of=(4, 6, 8), when=ON_950),
            Value("n", about="x", equals=4, when=OFF_950),
            Value("D", about="x", multiple_of=16, when=ON_950),
            Value("D", about="x", multiple_of=128, when=OFF_950),
            Shape("phi", "bias", "gammaOptional", *OUTPUTS),
            DType(*INPUTS, "gammaOptional", *OUTPUTS),
            PublicFormat(*INPUTS, "gammaOptional", *OUTPUTS),
            *(
                (Value("opImplMode", one_of=(0, 1)), Value("opImplMode", equals=0, when=OFF_950))
                if mode
                else ()
            ),
            Value("D", about="x", between=(16, 16384), when=ON_950),
            Value("D", about="x", between=(128, 100000), when=OFF_950),
        ),
        samples=_samples(mode),
    )


def _samples(mode: bool) -> tuple[dict[str, object], ...]:
    no_group = dict.fromkeys(GROUP)
    hf32: dict[str, object] = {"opImplMode": 1} if mode else {}
    return (
        {"tokens": (2, 3), "n": 4, "D": 128, "rows": 24, "scales": 3},
        {"tokens": (5,), "n": 4, "D": 256, "rows": 24, "scales": 3, "gammaOptional": None, **no_group},
        {"tokens": (5,), "n": 4, "D": 128, "rows": 8, "scales": 2, "hRes": None},
        {"tokens": (2, 2), "n": 4, "D": 99968, "rows": 24, "scales": 3, "soc": ("A2", "A3")},
        {"tokens": (2, 3), "n": 6, "D": 16, "rows": 48, "scales": 3, "soc": ("950",), **hf32},
        {"tokens": (3,), "n": 8, "D": 48, "rows": 16, "scales": 2, "soc": ("950",), **hf32},
        {"tokens": (1, 2), "n": 8, "D": 16384, "rows": 80, "scales": 3, "soc": ("950",)},
    )
