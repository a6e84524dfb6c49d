"""The stub package of `operad`: its own names, the operators, and what plugins add."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from keyword import iskeyword
from types import ModuleType
from typing import Final, NamedTuple, Protocol, final

import operad
from operad import nd
from operad.cli.calls import CallForm
from operad.cli.stubs.modules import added_names, added_namespaces, names_of, stub_of
from operad.cli.stubs.operators import HEADER, array_stub, symbol_stub
from operad.symbol import namespace

_LAZY: Final = ("__getattr__", "__dir__")


@final
class Call(NamedTuple):
    """A stub's words of an operator under one of its names.

    Attributes:
        form: Its arrays and parameters.
        doc: Its documentation.
    """

    form: CallForm
    doc: str


class _Declare(Protocol):
    def __call__(self, name: str, call: CallForm, doc: str) -> str: ...


def stub_package(calls: Mapping[str, Call], of: Collection[str] | None = None) -> dict[str, str]:
    """The files of the package, by name; imports no plugin.

    Args:
        calls: The operators, by each of their names.
        of: Distributions whose additions are declared. Names that are not declared have the type `Any`
            then, because other distributions may bring them. None: all that are installed, and an error
            for any other operator.
    """
    return {
        "py.typed": "partial\n",
        "__init__.pyi": _package(of),
        "nd.pyi": _face("nd", nd, calls, array_stub, of),
        "sym.pyi": _face("sym", namespace, calls, symbol_stub, of),
    }


def _package(of: Collection[str] | None) -> str:
    """The core's own names, and the modules that plugins add."""
    own = set(dir(operad))  # the core's win, as they do when a program runs
    added = {**added_namespaces(of), **added_names("operad", of)}
    return "\n".join([stub_of(operad), "", *[text for name, text in added.items() if name not in own]])


def _face(
    name: str, module: ModuleType, calls: Mapping[str, Call], declare: _Declare, of: Collection[str] | None
) -> str:
    added = added_names(name, of)
    own = {*names_of(module), *added}
    operators = [
        declare(name, *call)
        for name, call in calls.items()
        if name not in own and name.isidentifier() and not iskeyword(name)
    ]
    others = [] if of is None else ["def __getattr__(name: str) -> Any: ..."]
    parts = [stub_of(module, without=_LAZY), "", HEADER, *others, *added.values(), *operators]
    return "\n".join(["# Written by `operad stubs`.", *parts])
