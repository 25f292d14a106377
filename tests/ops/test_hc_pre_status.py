"""What HcPre and HcPreV2 refuse: Python functions before any call, C with the codes of a generated front end.

Order and codes of every combination are compared with the declared constraints in tests/diagnosis.
"""

import numpy as np
import pytest

import aclnn_py as aclnn
from aclnn_py.testing import cases

NULLPTR, INVALID, TILING, NO_KERNEL = 161001, 161002, 561002, 561003
INPUTS = {
    "x": ((2, 3, 4, 4096), "bfloat16"),
    "hcFn": ((24, 16384), "float32"),
    "hcScale": ((3,), "float32"),
    "hcBase": ((24,), "float32"),
    "preMixOptional": ((2, 3, 4), "float32"),
}
ATTRIBUTES = {"hcMult": 4, "hcSinkhornIters": 20, "hcEps": 1e-6, "normEps": 1e-6}
OUTPUTS = {
    "yOut": ((2, 3, 4096), "bfloat16"),
    "postOut": ((2, 3, 4), "float32"),
    "combFragOut": ((2, 3, 4, 4), "float32"),
    "hcPreOut": ((2, 3, 4), "float32"),
}


def call(op, **changes):
    """Calls `op` with what it takes; a change is a tensor, None, an attribute, or a (shape, dtype)."""
    names = {**INPUTS, **ATTRIBUTES, **OUTPUTS}
    if op == "aclnnHcPre":
        del names["preMixOptional"], names["hcPreOut"]
    values = []
    for name, value in names.items():
        value = changes.get(name, value)
        values.append(aclnn.empty(*value) if isinstance(value, tuple) else value)
    aclnn.op(op)(*values)
    aclnn.synchronize()


def refused(op, code, *texts, **changes):
    with pytest.raises(aclnn.AclnnError) as caught:
        call(op, **changes)
    assert caught.value.code == code, caught.value
    for text in (op, *changes, *texts):
        assert text in str(caught.value), caught.value


@pytest.mark.parametrize("op", ["aclnnHcPre", "aclnnHcPreV2"])
class TestC:
    def test_accepts(self, op):
        call(op)

    def test_null_pointers(self, op):
        for name in {**INPUTS, **OUTPUTS}:
            if name in ("preMixOptional", "hcPreOut"):
                continue
            refused(op, NULLPTR, "nullptr", **{name: None})

    @pytest.mark.parametrize("name", ["x", "hcFn", "hcScale", "hcBase", "yOut", "postOut", "combFragOut"])
    def test_a_dtype_without_a_kernel(self, op, name):
        shape, dtype = {**INPUTS, **OUTPUTS}[name]
        wanted = "DT_BFLOAT16" if dtype == "bfloat16" else "DT_FLOAT"
        refused(op, NO_KERNEL, "DT_FLOAT16", wanted, **{name: (shape, "float16")})

    @pytest.mark.parametrize(
        "name, shape, texts",
        [
            ("x", (2, 3, 2, 4, 4096), ("5 dimensions", "3 or 4")),
            ("x", (0, 3, 4, 4096), ("[0, 3, 4, 4096]", "length 0")),
            ("x", (2, 3, 6, 4096), ("[2, 3, 6, 4096]", "4")),
            ("x", (2, 3, 4, 4224), ("4224", "4096, 5120 or 7168")),
            ("hcFn", (24, 16383), ("[24, 16383]", "[24, 16384]")),
            ("hcScale", (1, 3), ("[1, 3]", "[3]")),
            ("hcBase", (23,), ("[23]", "[24]")),
            ("yOut", (6, 4096), ("[6, 4096]", "[2, 3, 4096]")),
            ("postOut", (2, 3, 4, 1), ("[2, 3, 4, 1]", "[2, 3, 4]")),
            ("combFragOut", (2, 3, 16), ("[2, 3, 16]", "[2, 3, 4, 4]")),
        ],
    )
    def test_a_shape_that_cannot_be_tiled(self, op, name, shape, texts):
        refused(op, TILING, *texts, **{name: (shape, {**INPUTS, **OUTPUTS}[name][1])})

    def test_attributes(self, op):
        refused(op, TILING, "6", "4", hcMult=6)
        refused(op, TILING, "19", "20", hcSinkhornIters=19)

    def test_strides(self, op):
        refused(op, TILING, "not contiguous", hcBase=aclnn.empty((48,))[::2])
        refused(op, TILING, "not contiguous", yOut=aclnn.empty((2, 6, 4096), "bfloat16")[:, ::2])

    def test_order(self, op):
        """Null, dtype, shape."""
        half, short = ((24, 16384), "float16"), ((2,), "float32")
        with pytest.raises(aclnn.AclnnError) as caught:
            call(op, hcFn=half, hcScale=short, postOut=None)
        assert (caught.value.code, "postOut" in str(caught.value)) == (NULLPTR, True)
        with pytest.raises(aclnn.AclnnError) as caught:
            call(op, hcFn=half, hcScale=short, hcMult=5)
        assert caught.value.code == NO_KERNEL
        with pytest.raises(aclnn.AclnnError) as caught:
            call(op, hcScale=short, hcMult=5)
        assert (caught.value.code, "hcScale" in str(caught.value)) == (TILING, True)

    def test_one_tiling_key_too_many(self, op, monkeypatch):
        monkeypatch.setenv("ACLEMU_TILING_KEY", "2")
        with pytest.raises(aclnn.AclnnError, match="no tiling key 2") as caught:
            call(op)
        assert caught.value.code == TILING


def test_pre_mix_of_v2():
    call("aclnnHcPreV2", preMixOptional=None)
    refused("aclnnHcPreV2", NO_KERNEL, "DT_BFLOAT16", preMixOptional=((2, 3, 4), "bfloat16"))
    refused("aclnnHcPreV2", TILING, "[6, 4]", "[2, 3, 4]", preMixOptional=((6, 4), "float32"))
    refused("aclnnHcPreV2", NULLPTR, hcPreOut=None)
    refused("aclnnHcPreV2", TILING, "[2, 3]", hcPreOut=((2, 3), "float32"))


CASE = cases.hc_pre_case((3,), 4096)
HALF = CASE.hc_fn.astype(np.float16)


@pytest.mark.parametrize("function", ["hc_pre", "hc_pre_v2"])
@pytest.mark.parametrize(
    "changes, error, text",
    [
        ({"x": CASE.x.astype(np.float32)}, TypeError, "x is float32, it must be bfloat16"),
        ({"hc_fn": HALF}, TypeError, "hc_fn is float16"),
        ({"hc_scale": [1, 2, 3]}, TypeError, "hc_scale must be an aclnn.Tensor or a NumPy array"),
        ({"x": CASE.x[0]}, ValueError, r"\[b, s, 4, d\] or \[T, 4, d\]"),
        ({"x": CASE.x[:0]}, ValueError, "length 0"),
        ({"x": CASE.x[:, :3]}, ValueError, r"\[3, 3, 4096\], the axis before the last must be 4"),
        ({"x": CASE.x[..., :4000]}, ValueError, "4096, 5120 or 7168"),
        ({"hc_fn": CASE.hc_fn[:23]}, ValueError, r"hc_fn has shape \[23, 16384\], it must be \[24, 16384\]"),
        ({"hc_scale": CASE.hc_scale[:2]}, ValueError, "hc_scale has shape"),
        ({"hc_base": CASE.hc_base[None]}, ValueError, "hc_base has shape"),
        ({"hc_mult": 8}, ValueError, "hc_mult is 8, it must be 4"),
        ({"hc_mult": "4"}, TypeError, "hc_mult must be an int"),
        ({"hc_sinkhorn_iters": 3}, ValueError, "hc_sinkhorn_iters is 3, it must be 20"),
    ],
)
def test_python_refuses_before_any_call(monkeypatch, function, changes, error, text):
    def no_call(name):
        raise AssertionError(f"{name} was looked up")

    monkeypatch.setattr(aclnn.ops.hc, "op", no_call)
    tensors = {**CASE._asdict()} | {k: v for k, v in changes.items() if k in CASE._fields}
    options = {k: v for k, v in changes.items() if k not in CASE._fields}
    with pytest.raises(error, match=text) as caught:
        getattr(aclnn.ops, function)(*tensors.values(), **options)
    assert str(caught.value).startswith(f"{function}: ")


def test_python_refuses_a_route_and_a_pre_mix():
    for route in ("composit", None, 1):
        with pytest.raises(ValueError, match="it must be one of auto, fused, composite, documented"):
            aclnn.ops.hc_pre(*CASE, route=route)
    with pytest.raises(TypeError, match="pre_mix is float64"):
        aclnn.ops.hc_pre_v2(*CASE, np.zeros((3, 4)))
    with pytest.raises(ValueError, match=r"pre_mix has shape \[3, 4, 1\], it must be \[3, 4\]"):
        aclnn.ops.hc_pre_v2(*CASE, np.zeros((3, 4, 1), np.float32))
    with pytest.raises(TypeError):
        aclnn.ops.hc_pre(*CASE, 4)  # attributes have names
