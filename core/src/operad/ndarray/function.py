"""Operators as functions of arrays: what stands behind `od.nd.tanh`.

Tensor arguments come first, by position or by name; parameters follow in declared order, or by name.

For each operator a function is generated. It looks up the plan of the call by the mode, the parameters
and the specifications of its arrays, and runs it. Whatever is not that simple (a first call, arrays by
name, parameters by position, a mistake) goes to `OperatorFunction.call`, which sorts the arguments, says
what is wrong with them, and enters the plan for the next call of the kind.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable
from keyword import iskeyword, kwlist
from typing import Any, Final, final

from operad import registry
from operad.boundary import boundary
from operad.imperative import (
    ABSENT,
    MOST_ARRAYS,
    TRACING,
    Array,
    Plan,
    apply,
    cache_key,
    find_invoker,
    insert_bounded,
    local,
)
from operad.ndarray.arguments import ordered, split_arguments
from operad.ndarray.signature import array_names, own_params, presented
from operad.op import OperatorProperty, Param

_COMMON: Final = ("out", "name", "ctx")
"""Parameters that every function takes, also where an operator has one of the name, as MXNet's do."""

_functions: Final[dict[tuple[str, type[Array]], Callable[..., Any]]] = registry.follow({})


def operator_function(name: str, cls: type[Array]) -> Callable[..., Any]:
    """The imperative function of the operator called `name`, over arrays of the class `cls`.

    Raises:
        OperatorNotFoundError: No installed plugin provides it.
    """
    found = _functions.get((name, cls))
    if found is None:
        found = _functions[name, cls] = OperatorFunction(name, registry.get(name), cls).generated()
    return found


@final
class OperatorFunction:
    """Generates the function of one operator, and makes the calls that it does not make by itself.

    Attributes:
        name: What the function is called.
        op: The operator.
        cls: The class of its arrays.
        arrays: Names of the arrays that a call may give by position; None for any number.
    """

    def __init__(self, name: str, op: type[OperatorProperty], cls: type[Array]) -> None:
        self.name = name
        self.op = op
        self.cls = cls
        self.arrays = array_names(op)
        self._word = name if name.isidentifier() and not iskeyword(name) else "operator"
        self._params = own_params(op, _COMMON)
        self._plans: dict[Any, Plan] = {}
        self._made: Callable[..., Any] | None = None

    def generated(self) -> Callable[..., Any]:
        """The function."""
        source = self._source()
        filename = f"<operad.nd.{self.name}>"
        # The names that an operator cannot have begin with two underscores.
        names: dict[str, Any] = {
            "__ABSENT": ABSENT, "__NONE": (None,) * MOST_ARRAYS, "__apply": apply, "__call": self.call,
            "__by_position": self.by_position, "__cls": self.cls, "__plans": self._plans, "__local": local,
            "__op": self.op, "__type": type, "__typed": cache_key,
            "__name__": "operad.nd",
        }  # fmt: skip
        exec(compile(source, filename, "exec"), names)  # noqa: S102 - the text is made of declared names
        # Tracebacks show the lines; without a time of change, `linecache` never drops them.
        linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
        self._made = presented(names[self._word], self.name, "nd", self.op, _COMMON)
        return self._made

    def _source(self) -> str:
        words = "".join(f", {name}=__ABSENT" for name in self._params)
        given = "".join(f"{name!r}: {name}, " for name in self._params) + "**__others"
        values = "".join(f"{name}, " for name in self._params if self._params[name].run_time)
        keys = ["__thread.mode", *[_key_part(name, declared) for name, declared in self._params.items()]]
        if self.op.is_stateful:
            keys.append("__op.epoch")
        if self.arrays is None:
            takes, arrays, rest = "*__arrays", "__arrays", ""
            four = f"*(__arrays + __NONE)[:{MOST_ARRAYS}]"
            keys.append("*[array._spec for array in __arrays]")
        else:
            # By position alone, so what they are called here is for readers of tracebacks.
            taken = {*self._params, *_COMMON, *kwlist}
            listed = [
                a if a.isidentifier() and a not in taken else f"__{i}" for i, a in enumerate(self.arrays)
            ]
            takes = "".join(f"{name}=__ABSENT, " for name in listed) + ("/, *__rest" if listed else "*__rest")
            arrays, rest = f"({''.join(f'{name}, ' for name in listed)})", "__rest"
            four = ", ".join([*(listed or ["__cls"]), *["None"] * MOST_ARRAYS][:MOST_ARRAYS])
            # Without arrays the context decides; the thread's default, which may change, makes no key.
            keys += [f"{name}._spec" for name in listed] or ["ctx"]
        call = f"{arrays}, {{{given}}}, out, ctx"
        lines = [
            f"def {self._word}({takes}{words}, out=None, name=None, ctx=None, **__others):",
            "    __thread = __local.state",
            "    try:",
            f"        __key = ({', '.join(keys)},)",
            "        __plan = __plans[__key]",
            "    except KeyError:",
            "        __plan = None",
            "    except (AttributeError, TypeError):  # no array, or nothing that a parameter may be",
            "        __key = __plan = None",
            *([f"    if {rest}:", f"        return __by_position({rest}, {call})"] if rest else []),
            "    if __plan is None or __others:",
            f"        return __call(__key, {call})",
            f"    __inputs = {arrays}[:__plan.signature.num_inputs]",
            f"    return __apply(__plan, __inputs, out, ({values}), __key[0], __cls)",
        ]
        if self.arrays is None or len(self.arrays) <= MOST_ARRAYS:
            lines[-2:-2] = [
                "    __fast = __plan.fast",
                "    if __fast is not None:",
                f"        __made = __fast.call(__fast, __thread, {four}, ({values}), out)",
                "        if __made is not None:",
                "            return __made",
            ]
        return "\n".join(lines) + "\n"

    def by_position(
        self, rest: tuple[Any, ...], arrays: tuple[Any, ...], named: dict[str, Any], out: Any, ctx: Any
    ) -> Any:
        """Make a call that gives parameters by position, behind the arrays, as one that names them."""
        given = dict(zip(self.op.params, rest, strict=False))
        is_usual = len(given) == len(rest) and all(named.get(name) is ABSENT for name in given)
        # There may be arrays behind, where a parameter says how many there are.
        is_sorted = all(isinstance(x, Array) for x in arrays) and not any(isinstance(x, Array) for x in rest)
        if self._made is None or not is_usual or not is_sorted:
            return self.call(None, arrays + rest, named, out, ctx)
        return self._made(*arrays, **{**named, **given}, out=out, ctx=ctx)

    @boundary
    def call(self, key: Any, args: tuple[Any, ...], named: dict[str, Any], out: Any, ctx: Any) -> Any:
        """Make a call of any kind; with a key, enter its plan where equal keys mean equal calls."""
        cls = self.cls
        args = tuple([arg for arg in args if arg is not ABSENT])
        named = {name: value for name, value in named.items() if value is not ABSENT}
        if local.state.mode >= TRACING:
            args = local.state.trace.plain(args)
            named = {name: local.state.trace.plain(value) for name, value in named.items()}
        end = len(args) if self.arrays is None else len(self.arrays) + len(self.op.params)
        # MXNet's functions take `out` and `name` by position, too, behind everything else; an array among the
        # parameters says that a parameter counts the arrays, and that there are only arrays.
        has_counted = any(isinstance(arg, Array) for arg in args[len(self.arrays or args) : end])
        is_beyond = end < len(args) <= end + 2 and isinstance(args[end], (Array, list, tuple))
        if is_beyond and out is None and not has_counted:
            args, out = args[:end], args[end]
        is_usual = all(arg.__class__ is cls for arg in args) if args else ctx is not None
        tensors, by_name, params = split_arguments(self.op, args, named, cls, "NDArray")
        found, values = find_invoker(self.op, params)
        inputs = ordered(found.prop, tensors, by_name)
        # invariant: a traced call is noted, so it finds no plan in the function's own table.
        is_usual = is_usual and not by_name and local.state.mode < TRACING
        if key is not None and is_usual and not found.prop.is_shaped_by_values:
            plan = found.plan(inputs, ctx, values)
            if registry.get(self.name) is self.op:
                insert_bounded(self._plans, key, plan)
        return found(inputs, out, ctx, cls, values)


def _key_part(name: str, declared: Param) -> str:
    """Contribution of a parameter to the key of a plan, as an expression.

    Values are equal only with equal types: `1 == True == 1.0`, which are not all valid, nor the same
    parameter; and by their text where `0.0 == -0.0`. Of run-time values only the type counts.
    """
    if declared.run_time:
        return f"__type({name})"
    if declared.type in (int, bool, str, "dtype"):
        return f"{name}, __type({name})"
    return f"{name} if {name} is __ABSENT else __typed({name})"
