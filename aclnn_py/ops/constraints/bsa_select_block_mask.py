"""What aclnnBSASelectBlockMask accepts."""

from typing import Any

from ...diagnosis.rules import (
    Addressable,
    Attribute,
    Dense,
    DType,
    IntArray,
    NotEmpty,
    NotNull,
    PublicFormat,
    Require,
    Rules,
    Shape,
    Tensor,
)

TILING = 561002
_OPTIONAL: dict[str, Any] = {"optional": True, "default": None}


def FITS(s: Any) -> bool:
    """where layouts and ranks fit"""
    return (
        s.queryLayout == s.keyLayout
        and s.queryLayout in ("BNSD", "TND")
        and s.query.rank == s.key.rank == len(s.queryLayout)
    )


def BNSD(s: Any) -> bool:
    """in the layout BNSD"""
    return FITS(s) and s.queryLayout == "BNSD"


def TND(s: Any) -> bool:
    """in the layout TND"""
    return FITS(s) and s.queryLayout == "TND"


def _lengths(name: str, tensor: str, axis: str) -> tuple[Require, ...]:
    """The checks of an array of sequence lengths."""
    return (
        Require(name, f"given('{name}')", "be given", when=TND, spoils=True),
        Require(name, f"len({name}) > 0", "have an entry for each sequence", when=TND, spoils=True),
        Require(
            name, f"len({name}) == query.shape[0]", "have {B} entries, one per batch", when=BNSD, spoils=True
        ),
        Require(
            name,
            f"all(0 <= n <= {axis} for n in {name})",
            f"have entries from 0 to {{{axis}}}, the token axis of {tensor}",
            when=FITS,
            spoils=True,
        ),
        Require(
            name,
            f"sum({name}) == {axis}",
            f"be per-sequence lengths, not cumulative, with the sum {{{axis}}}, the T axis of {tensor}",
            when=TND,
            spoils=True,
        ),
    )


def _block_lens(name: str, lengths: str, block: str, blocks: str) -> tuple[Require, ...]:
    """The checks of an array of tokens per block."""
    return (
        Require(
            name, f"len({name}) == B * {blocks}", f"have {{B * {blocks}}} entries, one per block", when=BNSD
        ),
        Require(
            name,
            f"len({name}) == sum(ceil(n, {block}) for n in {lengths})",
            "have an entry for each block of each sequence",
            when=TND,
        ),
        Require(
            name, f"all(0 <= n <= {block} for n in {name})", f"have entries from 0 to {{{block}}}", when=FITS
        ),
    )


RULES = Rules(
    "aclnnBSASelectBlockMask",
    arguments=(
        Tensor("query", "FLOAT16 BFLOAT16", "[*queryAxes, D]"),
        Tensor("key", "FLOAT16 BFLOAT16", "[*keyAxes, D]", like="query"),
        IntArray("blockShape", **_OPTIONAL, note="X, Y; NULL is 128, 128"),
        IntArray("postBlockShape", **_OPTIONAL, note="reserved, NULL"),
        IntArray("actualSeqLengths", **_OPTIONAL, note="query tokens of each batch; TND needs it"),
        IntArray("actualSeqLengthsK", **_OPTIONAL, note="key tokens of each batch; TND needs it"),
        IntArray("actualBlockLenQuery", **_OPTIONAL, note="tokens that count in each query block"),
        IntArray("actualBlockLenKey", **_OPTIONAL, note="tokens that count in each key block"),
        Attribute("queryLayout", "str", default="BNSD"),
        Attribute("keyLayout", "str", default="BNSD"),
        Attribute("numKeyHeads", "int", note="N: only as many key heads as query heads"),
        Attribute("scaleValue", "float", default=0.0, note="factor of the products; 0 is 1 / sqrt(128)"),
        Attribute("sparsity", "float", note="share of the blocks to keep"),
        Tensor("blockSparseMaskOut", "INT8", "[B, N, Xblocks, Yblocks]"),
    ),
    symbols={
        "B": "len(actualSeqLengths) if queryLayout == 'TND' else query.shape[0]",
        "N": "query.shape[1]",
        "X": "blockShape[0] if given('blockShape') else 128",
        "Y": "blockShape[1] if given('blockShape') else 128",
        "queryAxis": "query.shape[0] if queryLayout == 'TND' else query.shape[2]",
        "keyAxis": "key.shape[0] if queryLayout == 'TND' else key.shape[2]",
        "Xblocks": "ceil(max(actualSeqLengths) if queryLayout == 'TND' else queryAxis, X)",
        "Yblocks": "ceil(max(actualSeqLengthsK) if queryLayout == 'TND' else keyAxis, Y)",
    },
    axes={
        "queryAxes": "B, N, Sq in the layout BNSD and Tq, N in TND",
        "keyAxes": "B, N, Sk or Tk, N",
        "D": "128",
    },
    renamed={
        "actualSeqLengthsKV": "actualSeqLengthsK",
        "qInputLayout": "queryLayout",
        "kvInputLayout": "keyLayout",
        "numKeyValueHeads": "numKeyHeads",
    },
    checks=(
        NotNull("query", "key", "blockSparseMaskOut"),
        DType("query", "key", "blockSparseMaskOut"),
        PublicFormat("query"),
        Addressable("query"),
        NotEmpty("query"),
        PublicFormat("key"),
        Addressable("key"),
        NotEmpty("key"),
        PublicFormat("blockSparseMaskOut"),
        Addressable("blockSparseMaskOut"),
        NotEmpty("blockSparseMaskOut"),
        Require(
            "blockShape",
            "len(blockShape) >= 2 and blockShape[0] > 0 and blockShape[1] > 0",
            "be two numbers above 0",
            spoils=True,
        ),
        Require("postBlockShape", "not given('postBlockShape')", "be NULL: it is reserved"),
        Require("keyLayout", "keyLayout == queryLayout", "be {queryLayout}, the layout of query"),
        Require("numKeyHeads", "numKeyHeads == N", "be the heads of query, {N}", when=FITS),
        Require("key", "key.shape[1] == N", "have the heads of query, {N}, on axis 1", when=TND),
        *_lengths("actualSeqLengths", "query", "queryAxis"),
        *_lengths("actualSeqLengthsK", "key", "keyAxis"),
        Require(
            "actualSeqLengthsK",
            "len(actualSeqLengthsK) == len(actualSeqLengths)",
            "have as many entries as actualSeqLengths",
            when=TND,
        ),
        *_block_lens("actualBlockLenQuery", "actualSeqLengths", "X", "Xblocks"),
        *_block_lens("actualBlockLenKey", "actualSeqLengthsK", "Y", "Yblocks"),
        Shape("blockSparseMaskOut", when=FITS),
        Dense("blockSparseMaskOut", when=FITS),
        NotNull("queryLayout", "keyLayout", code=TILING),
        Require(
            "sparsity",
            "2**-150 < sparsity < 1 - 2**-25",
            "be above 0 and below 1 as a float",
            code=TILING,
        ),
        Require("blockShape", "X % 64 == 0 and Y % 64 == 0", "be multiples of 64", code=TILING),
        Require("query", "query.rank == len(queryLayout)", "have the dimensions of its layout", code=TILING),
        Require("key", "key.rank == len(keyLayout)", "have the dimensions of its layout", code=TILING),
        Require("queryLayout", "queryLayout in ('BNSD', 'TND')", "be BNSD or TND", code=TILING),
        Require("query", "query.shape[-1] == 128", "have 128 as the last axis", code=TILING),
        Require("key", "key.shape[-1] == 128", "have 128 as the last axis", code=TILING),
        Require(
            "query",
            "Xblocks * Yblocks > 1",
            "be so long that Xblocks * Yblocks is above 1",
            when=BNSD,
            code=TILING,
        ),
        Require(
            "key",
            "key.shape[0] == query.shape[0] and key.shape[1] == query.shape[1]",
            "have B and N of query",
            when=BNSD,
            code=TILING,
        ),
        Require("query", "B <= 65536", "have at most 65536 sequences", when=FITS, code=TILING),
        Require(
            "blockSparseMaskOut",
            "Xblocks * 32 * ceil(Yblocks, 32) < 2**31",
            "have fewer than 2^31 blocks per head, in rows of whole 32 blocks",
            when=FITS,
            code=TILING,
        ),
    ),
    samples=(
        {
            "queryAxes": (1, 2, 256), "keyAxes": (1, 2, 300), "D": 128, "B": 1, "N": 2, "Xblocks": 2,
            "Yblocks": 3, "numKeyHeads": 2, "sparsity": 0.5,
        },
        {
            "queryAxes": (2, 1, 320), "keyAxes": (2, 1, 200), "D": 128, "B": 2, "N": 1, "Xblocks": 5,
            "Yblocks": 2, "blockShape": (64, 128), "numKeyHeads": 1, "sparsity": 0.25,
            "actualSeqLengths": (320, 70), "actualBlockLenQuery": (64, 64, 64, 64, 0, 1, 2, 3, 4, 5),
        },
        {
            "queryAxes": (300, 3), "keyAxes": (128, 3), "D": 128, "B": 2, "N": 3, "Xblocks": 4, "Yblocks": 2,
            "blockShape": (64, 64), "queryLayout": "TND", "keyLayout": "TND", "numKeyHeads": 3,
            "sparsity": 0.75, "actualSeqLengths": (250, 50), "actualSeqLengthsK": (0, 128),
            "actualBlockLenKey": (64, 7),
        },
        {
            "queryAxes": (1, 1), "keyAxes": (1, 1), "D": 128, "B": 1, "N": 1, "Xblocks": 1, "Yblocks": 1,
            "queryLayout": "TND", "keyLayout": "TND", "numKeyHeads": 1, "sparsity": 0.01,
            "actualSeqLengths": (1,), "actualSeqLengthsK": (1,),
        },
    ),
)  # fmt: skip
