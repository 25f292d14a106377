"""Memory lent by DLPack: who holds it, for how long, in which form."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import aclnn_py as aclnn
from aclnn_py import dlpack, libraries

pytestmark = [
    pytest.mark.usefixtures("any_root"),
    pytest.mark.skipif(
        not aclnn.is_available() or not libraries.is_emulator(libraries.root()),
        reason="device memory is host memory on the emulator only",
    ),
]
versioned = pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) < "2.1.0", reason="NumPy before 2.1 knows the older DLPack only"
)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("dtype", ["bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_a_borrower_that_refuses_keeps_nothing(dtype: str) -> None:
    gc.collect()
    t, before = aclnn.zeros(4, dtype), dlpack.lent()
    for _ in range(5):
        with pytest.raises((RuntimeError, BufferError)) as caught:
            np.from_dlpack(t)  # NumPy has no such type
        assert caught.type is not SystemError
    del caught
    gc.collect()
    assert dlpack.lent() == before


@pytest.mark.filterwarnings("error")
def test_memory_comes_back_while_an_exception_is_set() -> None:
    before = dlpack.lent()
    with pytest.raises(ValueError, match="cannot reshape"):
        np.reshape(np.from_dlpack(aclnn.zeros(4)), (7,))
    gc.collect()
    assert dlpack.lent() == before


@versioned
def test_what_is_lent_can_be_written() -> None:
    t = aclnn.zeros((2, 3))
    assert '"dltensor_versioned"' in repr(t.__dlpack__(max_version=(1, 0)))
    assert '"dltensor"' in repr(t.__dlpack__()) and '"dltensor"' in repr(t.__dlpack__(max_version=(0, 8)))
    borrowed = np.from_dlpack(t[:, 1])
    borrowed[:] = 5
    assert t.numpy().tolist() == [[0, 5, 0], [0, 5, 0]]


@versioned
def test_a_copy_is_its_own() -> None:
    t = aclnn.tensor(np.arange(6.0).reshape(2, 3))
    copied = np.from_dlpack(t.T, copy=True)
    t.copy_from(np.zeros((2, 3)))
    assert copied.tolist() == [[0, 3], [1, 4], [2, 5]] and dlpack.lent() == 0
    assert np.from_dlpack(t, copy=False, device="cpu").tolist() == [[0, 0, 0], [0, 0, 0]]


@versioned
def test_read_only_arrays_are_taken() -> None:
    array = np.arange(4.0)
    array.flags.writeable = False
    assert aclnn.from_dlpack(array).numpy().tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("dtype", ["float8_e5m2", "float8_e4m3fn", "bfloat16", "complex128", "bool"])
def test_strided_views_of_every_kind(dtype: str) -> None:
    array = (np.arange(24).reshape(4, 6) % 2).astype(aclnn.as_dtype(dtype))
    t = aclnn.tensor(array)
    for view, expected in (
        (t.T, array.T),
        (t[1:, ::2], array[1:, ::2]),
        (t[0].broadcast_to(2, 6), array[[0, 0]]),
    ):
        assert view.numpy().tolist() == expected.tolist() and view.numpy().dtype == array.dtype
        assert aclnn.from_dlpack(view).numpy().tolist() == expected.tolist()
    t.T.copy_from(array.T)
    assert t.numpy().tolist() == array.tolist()


def test_a_capsule_of_bfloat16() -> None:
    ours = aclnn.tensor(np.array([1, 2, 3], ml_dtypes.bfloat16))
    capsule = ours.__dlpack__()

    class Other:
        def __dlpack_device__(self) -> tuple[int, int]:
            return 1, 0

        def __dlpack__(self) -> Any:  # without max_version, as before DLPack 1.0
            return capsule

    before = dlpack.lent()
    assert aclnn.from_dlpack(Other()).numpy().tolist() == [1, 2, 3]
    assert dlpack.lent() == before - 1
    with pytest.raises(TypeError, match="no DLPack capsule, or one that was taken already"):
        aclnn.from_dlpack(Other())


def test_lent_memory_outlives_the_runtime(run_python: Callable[..., Any]) -> None:
    source = """
        import atexit, gc
        atexit.register(lambda: print("late", late.sum()))  # the last to run
        import numpy as np, aclnn_py as aclnn
        from aclnn_py import dlpack, runtime

        kept = []
        for i in range(4):
            with aclnn.Runtime():
                t = aclnn.tensor(np.full(1 << 20, i, np.float32))
                view, other = np.from_dlpack(t[::2]), np.from_dlpack(t)
                lost = aclnn.zeros(1 << 20)
            assert (view == i).all() and (other == i).all()
            for tensor in (t, lost):
                try:
                    tensor.numpy()
                except ValueError as error:
                    assert "went when ACL was finalized" in str(error)
                else:
                    raise AssertionError
            del view
            assert (other == i).all()
            kept.append(other)
            del t, other
        assert [int(kept[i][-1]) for i in range(4)] == [0, 1, 2, 3] and dlpack.lent() == 4
        assert runtime._process.kept
        buffers = [loan.buffer for loan in runtime.loans]
        kept.clear()
        gc.collect()
        assert dlpack.lent() == 0
        with aclnn.Runtime():
            aclnn.zeros(3).numpy()
        assert not runtime._process.kept and not runtime._process.devices_set
        assert all(buffer.address is None for buffer in buffers)
        t = aclnn.zeros(3)
        late = np.from_dlpack(t)
    """

    done = run_python(source, ASCEND_HOME_PATH=libraries.root())
    assert done.stdout == "late 0.0\n" and done.stderr == ""
