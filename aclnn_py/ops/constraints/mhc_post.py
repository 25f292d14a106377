"""What aclnnMhcPost accepts."""

from ...diagnosis.rules import (
    OFF_950,
    ON_950,
    Accept,
    Addressable,
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

RUNTIME_ERROR, TILING = 361001, 561103
_UB_950 = 253952  # bytes that hold the coefficients of a token and up to 64 columns of its streams

RULES = Rules(
    "aclnnMhcPost",
    arguments=(
        Tensor("x", "FLOAT16 BFLOAT16", "[*tokens, n, D]"),
        Tensor("hRes", "FLOAT", "[*tokens, n, n]", optional=True, note="NULL is the identity, on Ascend 950"),
        Tensor("hOut", "", "[*tokens, D]", like="x"),
        Tensor("hPost", "FLOAT", "[*tokens, n]"),
        Tensor("out", "", "[*tokens, n, D]", like="x"),
    ),
    axes={"tokens": "b, s or t"},
    checks=(
        NotNull("hRes", when=OFF_950, code=RUNTIME_ERROR),
        NotNull("x", "hOut", "hPost", "out"),
        PublicFormat("x", "out"),
        DType("x", "hRes", "hOut", "hPost", "out"),
        Rank("x", be=(3, 4)),
        Rank("hRes", be="x.rank"),
        Rank("hOut", "hPost", be="x.rank - 1"),
        Rank("out", be="x.rank"),
        Addressable("x"),
        Shape("hRes", "hOut", "hPost", "out"),
        Accept("x.is_empty or hOut.is_empty or hPost.is_empty", "nothing to do, workspace 0"),
        Value("n", about="x", equals=4, when=OFF_950, code=TILING),
        Value("D", about="x", multiple_of=128, below=100000, when=OFF_950, code=TILING),
        Require(
            "x",
            "8*n + (8*n*n if given('hRes') else 0) + (16*n + 8)*min(16*ceil(D, 16), 64)"
            f" <= {_UB_950} and n <= 4095",
            "have so few streams that they fit the unified buffer (124 with hRes do)",
            when=ON_950,
            code=TILING,
        ),
    ),
    samples=(
        {"tokens": (2, 3), "n": 4, "D": 128},
        {"tokens": (7,), "n": 4, "D": 2560},
        {"tokens": (2, 3), "n": 4, "D": 99968},
        {"tokens": (2, 3), "n": 6, "D": 33, "soc": ("950",)},
        {"tokens": (5,), "n": 1, "D": 1, "soc": ("950",)},
        {"tokens": (2,), "n": 124, "D": 64, "soc": ("950",)},
        {"tokens": (2, 3), "n": 8, "D": 130, "hRes": None, "soc": ("950",)},
        {"tokens": (0, 3), "n": 4, "D": 128},
        {"tokens": (3,), "n": 5, "D": 0},
    ),
)
