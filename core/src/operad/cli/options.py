"""Options that several commands share, and how their text is read."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final, TypeVar

import click
from click.shell_completion import CompletionItem

from operad.device import Context
from operad.dtypes import as_dtype
from operad.errors import OperadError
from operad.op import Shape
from operad.registry import operators, plugins

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")

_CONTEXT: Final = re.compile(r"(?P<type>[a-z_]+)(\((?P<id>\d+)\)|:(?P<number>\d+))?")


def complete_operators(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Names of operators that begin with what is typed, each with its distribution; imports no plugin."""
    return [
        CompletionItem(name, help=record.distribution)
        for name, record in operators().items()
        if name.startswith(incomplete)
    ]


def complete_plugins(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Distributions whose names begin with what is typed."""
    return [CompletionItem(one.name) for one in plugins() if one.name.startswith(incomplete)]


def _one(read: Callable[[str], T]) -> Callable[[click.Context, click.Parameter, str], T]:
    def callback(ctx: click.Context, param: click.Parameter, value: str) -> T:
        try:
            return read(value)
        except (ValueError, OperadError) as error:
            raise click.BadParameter(str(error), ctx, param) from error

    return callback


def _each(read: Callable[[str], T]) -> Callable[[click.Context, click.Parameter, tuple[str, ...]], list[T]]:
    one = _one(read)
    return lambda ctx, param, values: [one(ctx, param, value) for value in values]


def _params(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    return dict(_each(_assignment)(ctx, param, values))


def _assignment(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign or not name:
        raise ValueError(f"{text!r} is not of the form name=value, for example num_hidden=10")
    return name, value


def _shape(text: str) -> Shape:
    inner = text.strip().removeprefix("(").removesuffix(")").replace(" ", "").removesuffix(",")
    axes = re.split(r"[x,]", inner) if inner else []
    if not all(axis.isdecimal() for axis in axes):
        raise ValueError(f"{text!r} is not a shape; write 32x3x8x8, or () for no axes")
    return tuple(map(int, axes))


def _context(text: str) -> Context:
    found = _CONTEXT.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is not a context; write cpu, gpu or gpu(1)")
    return Context(found["type"], int(found["id"] or found["number"] or 0))


def _shown(*names: str, read: Callable[[str], Any], **shown: Any) -> Callable[[F], F]:
    """An option of one value whose default the help shows."""
    return click.option(*names, show_default=True, callback=_one(read), **shown)


param_option: Final = click.option(
    "--param",
    "params",
    metavar="NAME=VALUE",
    multiple=True,
    callback=_params,
    help="A parameter of the operator, as a string; may be repeated.",
)
"""Adds `--param NAME=VALUE`, any number of times, as `params`: a dictionary of text."""

shape_option: Final = click.option(
    "--shape",
    "shapes",
    metavar="SHAPE",
    multiple=True,
    callback=_each(_shape),
    help="Shape of an argument, such as 32x3x8x8; repeat it for further arguments.",
)
"""Adds `--shape`, any number of times, as `shapes`: a list of shapes."""

dtype_option: Final = _shown(
    "--dtype", read=as_dtype, metavar="DTYPE", default="float32", help="Element type of the arguments."
)
"""Adds `--dtype` as `dtype`."""

context_option: Final = _shown(
    "--ctx",
    "context",
    read=_context,
    metavar="CONTEXT",
    default="cpu",
    help="Context, such as cpu or gpu(1).",
)
"""Adds `--ctx` as `context`; no such device need be there."""
