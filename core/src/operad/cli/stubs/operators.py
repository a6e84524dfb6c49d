"""Stub text of one operator as a function of arrays, and as a function of symbols."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from textwrap import indent
from typing import Final

from operad.cli.calls import CallForm
from operad.op import Param

HEADER: Final = """\
from collections.abc import Sequence
from typing import Any, Literal, overload

from numpy.typing import DTypeLike

from operad.device import Context
"""
"""Imports that the types below need."""

_TYPES: Final[Mapping[str, str]] = {
    "shape": "int | Sequence[int]",
    "indices": "int | Sequence[int | None]",
    "floats": "float | Sequence[float]",
    "dtype": "DTypeLike",
}


def array_stub(name: str, call: CallForm, doc: str) -> str:
    """The function `operad.nd.<name>`."""
    out = "out: NDArray | Sequence[NDArray] | None = None"
    extras = [out, "ctx: Context | None = None", "name: str | None = None"]
    returns = {True: "NDArray", False: "list[NDArray]"}
    result = " | ".join(sorted({returns[count == 1] for count in call.output_counts}, reverse=True))
    optional = [tensor.is_optional for tensor in call.tensors]
    if optional == sorted(optional):
        tensors = [(f"{t.name}: NDArray", t.is_optional) for t in call.tensors]
        last = "**params: Any" if call.takes_more_params else ""
        return _function(name, _parameters(call, "NDArray", tensors, extras, last), result, doc)
    # One that may be missing stands before one that may not: each list of tensors is a call of its own.
    texts = []
    for names in call.tensor_lists:
        tensors = [(f"{tensor}: NDArray", False) for tensor in names]
        texts.append(
            "@overload\n" + _function(name, _parameters(call, "NDArray", tensors, extras), result, doc)
        )
    return "\n".join(texts)


def symbol_stub(name: str, call: CallForm, doc: str) -> str:
    """The function `operad.sym.<name>`; a symbol that is not given becomes a variable."""
    tensors = [(f"{t.name}: Symbol", True) for t in call.tensors]
    extras = ["name: str | None = None", "attr: dict[str, str] | None = None"]
    last = "**params: Any" if call.takes_more_params else "**hidden: str"
    return _function(name, _parameters(call, "Symbol", tensors, extras, last), "Symbol", doc)


def _parameters(
    call: CallForm, tensor: str, tensors: list[tuple[str, bool]], extras: list[str], last: str = ""
) -> list[str]:
    words = [f"*data: {tensor} | Sequence[{tensor}]"] if call.takes_any_number else []
    words += [f"{text} = ..." if is_optional else text for text, is_optional in tensors]
    # Python has no required parameter after an optional one, except by name.
    is_by_name = call.takes_any_number
    has_default = any(is_optional for _, is_optional in tensors)
    kept = {word.partition(":")[0]: word for word in extras}
    for declared in call.params:
        if declared.name in kept:
            # The function takes this name for itself before the operator sees it.
            words.append(kept.pop(declared.name))
            has_default = True
            continue
        if not is_by_name and has_default and declared.is_required:
            words.append("*")
            is_by_name = True
        words.append(_parameter(declared))
        has_default = has_default or not declared.is_required
    if not is_by_name:
        words.append("*")
    words += kept.values()
    return [*words, last] if last else words


def _parameter(declared: Param) -> str:
    text = f"{declared.name}: {type_text(declared)}"
    return text if declared.is_required else f"{text} = {declared.default!r}"


def type_text(declared: Param) -> str:
    """Type that a checker should accept for a parameter: its values, and not MXNet's strings."""
    if declared.choices is not None:
        text = f"Literal[{', '.join(map(repr, declared.choices))}]"
    elif isinstance(declared.type, str):
        text = _TYPES[declared.type]
    else:
        text = declared.type.__name__
    return f"{text} | None" if declared.optional else text


def _function(name: str, parameters: list[str], result: str, doc: str) -> str:
    text = inspect.cleandoc(doc).replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    body = indent(f'"""{text}"""\n...', "    ") if text else "    ..."
    return f"def {name}({', '.join(parameters)}) -> {result}:\n{body}\n"
