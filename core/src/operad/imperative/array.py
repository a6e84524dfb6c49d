"""The array that plans, tape and executors work on, without the methods that a user calls.

`NDArray`, which adds those, stands above differentiation; this class stands below it. Code that makes an
array names the class: that of an input, or the one that the front end hands down.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any, Final, Protocol, Self, final

import numpy as np

from operad.device import Context
from operad.dtypes import DType
from operad.imperative.array_spec import ArraySpec, spec_of
from operad.imperative.chunk import Chunk, acquire
from operad.imperative.run import execute
from operad.op import Shape, transfer

_made: Final = object.__new__


@final
class Provenance(Enum):
    """Provenance of an array, where a message may have to say it later."""

    MADE = "by a function that makes arrays, from no other array"
    COMPARED = "by a comparison: its elements are 0 and 1"
    UNTRACKED = "under record(), from arrays that no gradient flows to"


class ArrayFields(Protocol):
    """Fields of an array that the rooms of the core read, the hot path in their slots; users see properties.

    Attributes:
        _chunk: The memory, with the engine variable that orders its uses.
        _data: The plain array of the device's array module, inside that memory.
        _spec: Shape, element type and context; two arrays that are alike have the same one.
        _autograd: Where the array stands on the tape, `(node, index)`; None where no gradient flows to it.
    """

    _chunk: Chunk
    _data: Any
    _spec: ArraySpec
    _autograd: Any


class Array:
    """A plain array inside the memory of a chunk: `ArrayFields`.

    `_provenance` is unset in most arrays, which costs their makers nothing.
    """

    __slots__ = ("__weakref__", "_autograd", "_chunk", "_data", "_provenance", "_spec")

    def __init__(self, chunk: Chunk, data: Any, spec: ArraySpec) -> None:
        self._chunk = chunk
        self._data = data
        self._spec = spec
        self._autograd: Any = None

    @classmethod
    def _new(cls, spec: ArraySpec) -> Self:
        """A new array with undefined contents."""
        # What the constructors do, for every call makes an array.
        lease = acquire(spec.deferred, spec.ctx, spec.nbytes)
        chunk = Chunk(None, lease.reclaimer)
        chunk.var = lease.var
        chunk.lease = lease
        chunk.owner = chunk.note = None
        made = _made(cls)
        made._chunk = chunk
        made._data = lease.handle.array(spec.shape, spec.dtype)
        made._spec = spec
        made._autograd = None
        return made

    def _with_provenance(self, provenance: Provenance) -> Self:
        """This array, whose provenance is noted."""
        self._provenance = provenance
        return self

    def _has_provenance(self, provenance: Provenance) -> bool:
        return getattr(self, "_provenance", None) is provenance

    @property
    def _fresh_grad(self) -> int:
        """1 if a backward pass has written the gradient since a program set this to False, as trainers do."""
        return int(getattr(self._autograd and self._autograd[0], "is_fresh", False))

    @_fresh_grad.setter
    def _fresh_grad(self, value: bool) -> None:
        self._autograd[0].is_fresh = value

    @property
    def shape(self) -> Shape:
        """Length of every axis."""
        return self._spec.shape

    @property
    def dtype(self) -> DType:
        """Element type."""
        return self._spec.dtype

    @property
    def context(self) -> Context:
        """The device the array lives on."""
        return self._spec.ctx

    ctx = context

    @property
    def size(self) -> int:
        """Number of elements."""
        return self._spec.size

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self._spec.shape)

    def detach(self) -> Self:
        """A view of the same memory that is not part of what is recorded."""
        made = self.__class__(self._chunk, self._data, self._spec)
        if self._chunk.note is not None:
            self._chunk.note.detach(made)
        return made

    @property
    def _is_part(self) -> bool:
        """Return whether writing all of this array may leave some of its memory as it is."""
        lease = self._chunk.lease
        whole: int = self._chunk.owner.nbytes if lease is None else lease.handle.size_bytes
        return whole != self._spec.nbytes

    def _view(self, data: Any) -> Self:
        spec = self._spec
        same = spec if data.shape == spec.shape else spec_of(data.shape, spec.dtype, spec.ctx)
        view = self.__class__(self._chunk, data, same)
        note = self._chunk.note
        if note is not None and not note.concerns(self):
            note.detach(view)
        return view

    def _set(self, value: Any) -> Self:
        """Write `value`, a number or an array of the host, into this array, on which nothing is pending."""
        if self._spec.ctx.is_gpu:  # streams of the engine do not wait for what this thread's stream does
            args = self.ctx.xp, np.array(value), self._data
            execute(transfer, args, self.ctx, (), (self._chunk.var,), "_set")
        else:
            self._data[...] = value
        return self


if TYPE_CHECKING:

    def _fields(array: Array) -> ArrayFields:
        return array
