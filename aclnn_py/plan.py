"""Plan: one operator call prepared once and replayed."""

from __future__ import annotations

import ctypes
import weakref
from typing import Any

from . import callcode, runtime
from .abi import acl
from .arguments import TensorList, create_list
from .callcode import ADDRESSES
from .conversion import SLOTS
from .diagnosis.launches import MadeIn
from .enums import aclFormat
from .operator import Operator, choose, user_frame, workspace
from .status import fail, recent_message
from .stream import Stream
from .tensor import Kept, Tensor, create_descriptor
from .views import View, contiguous

_local = runtime.local
_ALIGNMENT = 32  # bytes; what CANN asks of a tensor's address


class _Place:
    """One tensor of the plan: a descriptor of the plan's own, whose address can be replaced.

    A dense view is described from its own start on, so that any dense view of the same shape can take its
    place; other views keep their offset.
    """

    def __init__(self, tensor: Tensor) -> None:
        self.element, self.format = tensor.element, tensor.format
        self.data_type = self.element.acl
        self.view, self.storage, self.address = _folded(tensor)
        self.buffer = tensor._live_buffer()
        self.handle = create_descriptor(self.view, self.data_type, self.format, self.storage, self.address)

    def kept(self) -> Kept:
        """As `Tensor._kept`."""
        return self.buffer, self.view, self.element

    def check(self, tensor: Any, label: str) -> None:
        """TypeError or ValueError unless the tensor can take this place."""
        if not isinstance(tensor, Tensor):
            raise TypeError(f"{label} must be an aclnn.Tensor, got {type(tensor).__name__}")
        device = tensor._live_buffer().device
        if device != self.buffer.device:
            raise ValueError(f"{label} is on device {device}, the plan on device {self.buffer.device}")
        view, storage, _ = _folded(tensor)
        have = (tensor.data_type, tensor.format, view, storage)
        if have != (self.data_type, self.format, self.view, self.storage):
            raise ValueError(
                f"{label} is {tensor!r}, the plan was made for shape={self.view.shape}, "
                f"{self.data_type.name}, strides={self.view.strides}, offset={self.view.offset}; "
                "make a new plan"
            )

    def put(self, tensor: Tensor) -> int | None:
        """Makes the tensor's memory that of this place; returns the address to hand on."""
        self.buffer = tensor._live_buffer()
        self.address = _folded(tensor)[2]
        return self.address


def _folded(tensor: Tensor) -> tuple[View, tuple[int, ...], int | None]:
    """(view, storage shape, address): the offset of a dense view is in the address where alignment allows."""
    base = tensor._buffer.address
    moved, rest = divmod(tensor.offset * tensor.element.bits, 8)
    plain = not rest and tensor.is_contiguous and tensor.format == aclFormat.ACL_FORMAT_ND
    if base is None or not plain or (base + moved) % _ALIGNMENT:
        return tensor._view, tensor._storage_shape, base
    return contiguous(tensor.shape), tensor.shape, base + moved


class Plan:
    """An operator call with phase 1 done: `plan = op.plan(x, ..., out)`, then `plan()` as often as wanted.

    Each call puts the work on the plan's stream, on the memory of the tensors given; `rebind` replaces that
    memory. Use a plan from one thread at a time. `close()`, `with` and garbage collection release it.

    `repeatable` tells whether CANN lets one executor be replayed. Where it refuses (561000: device copies
    inside, output shapes that depend on data, an executor that came from CANN's own cache), each call runs
    phase 1 again.

    Errors: those of an operator call; ValueError for a closed plan, or on another device than it was made on.
    """

    __slots__ = (
        "__weakref__",
        "_call",
        "_executor",
        "_generation",
        "_held",
        "_lists",
        "_made",
        "_memory",
        "_passed",
        "_places",
        "_ready",
        "_stream",
        "_values",
        "_workspace_size",
        "operator",
        "refusal",
    )

    def __init__(self, operator: Operator, values: tuple[Any, ...], stream: Stream | None = None) -> None:
        self.operator = operator
        maker = user_frame(1)
        self._made = MadeIn(maker.f_code, maker.f_lasti)
        self.refusal = 0
        self._passed: list[Any] = []
        self._places: dict[int, list[_Place | None]] = {}  # None: an element not given
        self._lists: dict[int, Any] = {}
        self._memory: Any = None
        self._call = choose(stream)
        self._stream: Stream = self._call[0]
        self._generation = runtime.generation()
        runtime.live_owners[id(self)] = weakref.ref(self)
        self._values = values  # attributes and arrays, which the executor may still read
        self._describe(values)
        executor = self._first_phase()
        code = acl.aclSetAclOpExecutorRepeatable(executor)
        if code:
            recent_message()  # a refusal is no error: the property tells
            acl.aclDestroyAclOpExecutor(executor)
            self.refusal = code
        else:
            self._prepare(executor)
        self._hold()

    @property
    def repeatable(self) -> bool:
        """False if each call runs phase 1 again, because CANN refused with the status code `refusal`."""
        return not self.refusal

    @property
    def stream(self) -> Stream:
        return self._stream

    @property
    def closed(self) -> bool:
        return not hasattr(self, "_passed")

    def _describe(self, values: tuple[Any, ...]) -> None:
        """Fills `_passed`, what phase 1 takes, with descriptors of the plan's own for all tensors."""
        for i, (parameter, value) in enumerate(zip(self.operator.prototype.parameters, values)):
            if isinstance(value, (Tensor, TensorList)):
                places = self._places[i] = []
                for tensor in [value] if isinstance(value, Tensor) else value.tensors:
                    places.append(None if tensor is None else _Place(tensor))
                handles = [None if place is None else place.handle for place in places]
                if isinstance(value, Tensor):
                    self._passed.append(ctypes.c_void_p(handles[0]))
                else:
                    self._lists[i] = ctypes.c_void_p(create_list(handles))
                    self._passed.append(self._lists[i])
            elif parameter.kind in SLOTS:
                self._passed.append(getattr(value, SLOTS[parameter.kind]))
            else:
                self._passed.append(callcode.to_c(parameter)(value))

    def _first_phase(self) -> Any:
        size, executor = ctypes.c_uint64(), ctypes.c_void_p()
        code = self.operator._phase1(*self._passed, ctypes.byref(size), ctypes.byref(executor))
        if code:
            self.operator._fail(code, 1, self._values)
        self._workspace_size = size.value
        return executor

    def _prepare(self, executor: Any) -> None:
        """Everything that a replay passes, ready."""
        try:
            if self._workspace_size:
                self._memory = self._stream.workspace(self._workspace_size)
        except BaseException:
            acl.aclDestroyAclOpExecutor(executor)
            raise
        self._executor = ctypes.c_void_p.from_param(executor.value)

    def _hold(self) -> None:
        """Collects what the stream must keep for each replay, and what a replay uses."""
        kept = [
            self._kept(i) for i, p in enumerate(self.operator.prototype.parameters) if p.kind in ADDRESSES
        ]
        self._held = (self.operator, self._made, *kept, self._memory)
        self._set_ready()

    def _kept(self, index: int) -> Any:
        """What a stream keeps for the parameter: of a tensor a tuple, of a list a tuple of those."""
        kept = tuple(place and place.kept() for place in self._places.get(index, ()))
        return kept if index in self._lists else kept[0] if kept else None

    def _set_ready(self) -> None:
        """One tuple with all that a replay uses; unset for a plan that is not repeatable."""
        if self.repeatable:
            address = self._memory and self._memory.argument
            size = ctypes.c_uint64.from_param(self._workspace_size)
            stream = self._stream
            self._ready = (
                self._call,
                stream,
                self.operator._phase2,
                address,
                size,
                self._executor,
                stream._keep,
                self._held,
            )

    def __call__(self) -> None:
        """Puts the work on the stream once more."""
        try:
            call, stream, phase2, address, size, executor, keep, held = self._ready
            handle = stream._handle
            if _local.state.call is not call:
                raise AttributeError
        except AttributeError:
            self._call_slowly()
            return
        code = phase2(address, size, executor, handle)
        keep.append(held)
        if code:
            self.operator._fail(code, 2, self._values)
        if len(keep) > stream._limit:
            stream.settle()

    def _enter(self) -> None:
        """In a thread that has not used the plan yet, or after its runtime state changed."""
        if self.closed:
            raise ValueError(f"{self!r} was closed")
        self._stream._open_handle()
        if not runtime.usable(self._generation):
            raise ValueError(f"the memory of {self!r} went when ACL was finalized")
        state = runtime.enter()
        if state.device != self._stream._device:
            raise ValueError(f"{self!r} is on device {self._stream._device}, this thread on {state.device}")
        self._call = state.ready()
        self._set_ready()

    def _call_slowly(self) -> None:
        self._enter()
        if self.repeatable:
            self()
            return
        handle = self._stream._open_handle()
        executor = self._first_phase()
        size = self._workspace_size
        memory = workspace(self._stream, size, executor) if size else None
        address = memory and memory.argument
        code = self.operator._phase2(address, ctypes.c_uint64(size), executor, handle)
        self._stream._keep.append((*self._held, memory))
        if code:
            self.operator._fail(code, 2, self._values)
        if len(self._stream._keep) > self._stream._limit:
            self._stream.settle()

    def rebind(self, /, **tensors: Any) -> None:
        """Replaces tensors by others like them: `plan.rebind(x=..., out=...)`.

        Same dtype, shape, strides and format; for a parameter that is a list, a list of the same length.
        Calls already made keep their memory. Errors: TypeError for a name that is no tensor of the plan,
        ValueError for a tensor that does not fit; the plan is then unchanged.
        """
        self._enter()
        names = callcode.identifiers(self.operator.prototype)
        new: list[tuple[int, list[Any]]] = []
        for name, given in tensors.items():
            index = names.index(name) if name in names else -1
            places = self._places.get(index)
            if places is None:
                known = ", ".join(names[i] for i in self._places)
                raise TypeError(
                    f"{self.operator}: {name} is no tensor of this plan; it has {known or 'none'}"
                )
            items = list(given) if index in self._lists else [given]
            if len(items) != len(places):
                raise ValueError(f"{self.operator}: {name} has {len(items)} tensors, the plan {len(places)}")
            for place, item in zip(places, items):
                if place is not None:
                    place.check(item, f"{self.operator}: {name}")
                elif item is not None:
                    raise ValueError(f"{self.operator}: {name} has None here in the plan; make a new plan")
            new.append((index, items))
        for index, items in new:
            for n, (place, item) in enumerate(zip(self._places[index], items)):
                if place is not None:
                    self._set_address(index, n, place, place.put(item))
        self._hold()

    def _set_address(self, index: int, n: int, place: _Place, address: int | None) -> None:
        handle = ctypes.c_void_p(place.handle)
        if not self.repeatable:
            name, code = "aclSetRawTensorAddr", acl.aclSetRawTensorAddr(handle, address)
        else:
            # CANN counts the operator's tensors, given or not, inputs and outputs together
            parameters = self.operator.prototype.parameters[:index]
            position = sum(p.kind in ("tensor", "tensor_list") for p in parameters)
            if index in self._lists:
                name, listed = _spelled("SetDynamicTensorAddr"), self._lists[index]
                code = getattr(acl, name)(self._executor, position, n, listed, address)
            else:
                name = _spelled("SetTensorAddr")
                code = getattr(acl, name)(self._executor, position, handle, address)
        if code:
            fail(code, name)

    def close(self) -> None:
        """Releases executor and descriptors. Work already on the stream is not affected. Twice is fine."""
        if self.closed:
            return
        del self._passed
        self._release()

    def _release(self) -> None:
        """Destroys executor and descriptors."""
        runtime.live_owners.pop(id(self), None)
        executor = getattr(self, "_executor", None)
        if executor is not None:
            del self._executor
            del self._ready
        self._held = self._values = ()
        places_of, self._places = self._places, {}
        self._memory = None
        if not runtime.host_objects_usable():
            return
        if executor is not None:
            acl.aclDestroyAclOpExecutor(executor)
        for index, places in places_of.items():
            if index in self._lists:
                acl.aclDestroyTensorList(self._lists[index])  # with its elements
            else:
                for place in filter(None, places):
                    acl.aclDestroyTensor(place.handle)

    def __del__(self) -> None:
        try:
            self.close()
        except KeyboardInterrupt:
            runtime.interrupt_again()
        except Exception:  # at interpreter exit half the module may be gone
            pass

    def __enter__(self) -> Plan:
        self._enter()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "closed" if self.closed else "" if self.repeatable else f"not repeatable, {self.refusal}"
        return f"<Plan of {self.operator}{', ' if state else ''}{state}>"


def _spelled(name: str) -> str:
    """Older releases have only the spelling Acl..."""
    return "acl" + name if acl.has("acl" + name) else "Acl" + name
