"""MXNet 1.9.1: calls by operator name, and the facts it tells of each operator. Runs under MXNet only."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cache
from typing import Any

import mxnet as mx
from mxnet._ctypes.ndarray import _imperative_invoke
from mxnet.base import _LIB, OpHandle, c_str, check_call, mx_uint, py_str
from mxnet.name import NameManager
from mxnet.symbol.register import _symbol_creator

from tests.conformance.recorded.case import Array, Case

_CTX = mx.cpu()
_TENSORS = ("NDArray", "Symbol")
"""Beginnings of the type texts of tensor arguments; some operators know symbols alone."""


@dataclass(frozen=True)
class Info:
    """Entry of one operator in MXNet's registry."""

    canonical: str
    names: tuple[str, ...]
    types: tuple[str, ...]
    key_var_num_args: str

    @property
    def tensors(self) -> list[str]:
        """Names of the tensor arguments; `*name` for a variable number."""
        pairs = zip(self.names, self.types, strict=True)
        return [("*" if t.endswith("[]") else "") + n for n, t in pairs if t.startswith(_TENSORS)]

    @property
    def params(self) -> dict[str, str]:
        """Type texts of the parameters, in order."""
        pairs = zip(self.names, self.types, strict=True)
        return {n: t for n, t in pairs if not t.startswith(_TENSORS)}


class MXNet:
    """The peer whose results are recorded."""

    autograd = mx.autograd

    def array(self, values: Array) -> Any:
        """A new array."""
        return mx.nd.array(values, ctx=_CTX, dtype=values.dtype)

    def invoke(
        self, op: str, arrays: Sequence[Any], params: Mapping[str, Any], out: Sequence[Any] | None = None
    ) -> list[Any]:
        """The visible outputs."""
        keys, values = list(params), list(params.values())
        made = _imperative_invoke(handle(op), list(arrays), keys, values, out, False, True)
        mx.nd.waitall()
        return list(made) if out is None else list(out)

    def symbol(self, op: str, inputs: Sequence[str], params: Mapping[str, Any], name: str | None) -> Any:
        """An operator of variables."""
        key = info(op).key_var_num_args
        given = dict(params)
        if key and inputs:
            given.setdefault(key, len(inputs))
        node = NameManager._current.value.get(name, called(op).lower())
        variables = [mx.sym.var(one) for one in inputs]
        keys, values = list(given), list(given.values())
        return _symbol_creator(handle(op), variables, None, keys, values, node, False)

    def bind(self, symbol: Any, args: Any, grads: Any, aux: Any) -> Any:
        """An executor."""
        requests = {name: "write" if name in grads else "null" for name in args}
        return symbol.bind(_CTX, args, args_grad=grads, grad_req=requests, aux_states=aux)

    def scope(self, case: Case) -> Any:
        """Scope in which a length of 0 means unknown or not, as the case asks; MXNet's default is unknown."""
        has_empty = any(values.size == 0 for values in case.arrays())
        return mx.util.np_shape(True) if has_empty else nullcontext()


@cache
def handle(op: str) -> int:
    """Address of the operator; aliases share it."""
    found = OpHandle()
    check_call(_LIB.NNGetOpHandle(c_str(op), ctypes.byref(found)))
    return int(found.value)


def called(op: str) -> str:
    """Name by which programs call the operator; `_contrib_fft` is `fft`, in a part of `sym`."""
    is_whole = hasattr(mx.sym, op) or hasattr(mx.sym._internal, op)
    return op if is_whole else op.removeprefix(mx.base._get_op_name_prefix(op))


@cache
def info(op: str) -> Info:
    """Entry of an operator in the registry."""
    name, description, key, returns = (ctypes.c_char_p() for _ in range(4))
    count = mx_uint()
    names, types, texts = (ctypes.POINTER(ctypes.c_char_p)() for _ in range(3))
    pointers = [ctypes.byref(x) for x in (name, description, count, names, types, texts, key, returns)]
    check_call(_LIB.MXSymbolGetAtomicSymbolInfo(ctypes.c_void_p(handle(op)), *pointers))
    return Info(
        py_str(name.value),
        tuple(py_str(names[i]) for i in range(count.value)),
        tuple(py_str(types[i]) for i in range(count.value)),
        py_str(key.value),
    )


@cache
def names_by_handle() -> dict[int, list[str]]:
    """Every name in the registry, by what it stands for."""
    count = ctypes.c_uint()
    names = ctypes.POINTER(ctypes.c_char_p)()
    check_call(_LIB.NNListAllOpNames(ctypes.byref(count), ctypes.byref(names)))
    found: dict[int, list[str]] = {}
    for name in sorted(py_str(names[i]) for i in range(count.value)):
        found.setdefault(handle(name), []).append(name)
    return found


def registry_facts(op: str) -> dict[str, Any]:
    """Facts that need no call."""
    known = info(op)
    return {
        "canonical": known.canonical,
        "aliases": [name for name in names_by_handle()[handle(op)] if name != op],
        "tensors": known.tensors,
        "variadic": known.key_var_num_args,
        "parameters": list(known.params),
        "types": known.params,
    }
