"""MXNet's names that no package has, and what programs do instead.

`absent.json` is written by hand: names without `mxnet.`, patterns as in file names; a name stands for all
that is below it. What `nd` and `sym` have alike is written `nd`, and operators of their parts with the
prefix: `nd.contrib.quantize` is `nd._contrib_quantize`. The registry asks this module, by the entry point
`registry.absent`, where it has no name itself.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any, Final

from operad.files import parse_json, read_text

_TABLE: Final = Path(__file__).with_name("absent.json")
_PREFIXES: Final = (
    *((f"{short}.", f"{long}.") for short, long in (
        ("img", "image"), ("init", "initializer"), ("kv", "kvstore"), ("mod", "module"), ("mon", "monitor"),
        ("opt", "optimizer"), ("rnd", "random"), ("viz", "visualization"),
    )),
    ("contrib.amp.amp.", "contrib.amp."),
    ("contrib.ndarray.", "nd.contrib."),
    ("contrib.nd.", "nd.contrib."),
    ("contrib.symbol.", "nd.contrib."),
    ("contrib.sym.", "nd.contrib."),
    ("ndarray.", "nd."),
    ("symbol.", "nd."),
    ("sym.", "nd."),
    ("nd.op.", "nd."),
    ("nd._internal.", "nd."),
    ("nd.contrib.", "nd._contrib_"),
    ("nd.image.", "nd._image_"),
    ("nd.linalg.", "nd._linalg_"),
)  # fmt: skip
"""Spellings of one name, each with the next; the later ones apply to what the earlier ones give."""


def spelling(name: str) -> str:
    """The spelling of MXNet's name `name` in the table: `sym.contrib.quantize` is `nd._contrib_quantize`."""
    for prefix, instead in _PREFIXES:
        if name.startswith(prefix):
            name = instead + name.removeprefix(prefix)
    return name


def why_absent(name: str) -> str | None:
    """Reason why no package has MXNet's `name`, and what to do instead; None where the table has none.

    Args:
        name: Without `mxnet.`, such as `gluon.nn.Dense`, or of a class such as `Symbol.asnumpy`.
    """
    from fnmatch import fnmatchcase  # noqa: PLC0415 - 3 ms that only a missing name costs

    parts = spelling(name).split(".")
    heads = [".".join(parts[: count + 1]) for count in range(len(parts))]
    return next(
        (why for pattern, why in _rows() if any(fnmatchcase(head, pattern) for head in heads)),
        None,
    )


def absent_text(name: str) -> str | None:
    """Words of messages for MXNet's `name` that no package has; None where the table has no such name."""
    why = why_absent(name)
    return None if why is None else f"MXNet has it, and no package of operad does: {why}"


def explain_absence(owner: str, module: ModuleType) -> None:
    """Have a plugin's module, and the modules that it has inside, say of MXNet's names why they lack them.

    Args:
        owner: What MXNet calls the module, without `mxnet.`.
    """
    own = vars(module).get("__getattr__", _nothing_more(module))
    if hasattr(own, "explains"):  # a module that has two names
        own.explains.append(owner)
        return
    owners = [owner]

    def __getattr__(name: str) -> Any:  # noqa: N807 - Python asks a module for what it lacks
        try:
            return own(name)
        except AttributeError as error:
            texts = [] if name.startswith("_") else [absent_text(f"{one}.{name}") for one in owners]
            absent = next(filter(None, texts), None)
            if absent is None or absent in str(error):
                raise
            text = f"{error}; {absent}"
            if _is_from_import(sys._getframe(1)):
                # Of an AttributeError `from mxnet.base import check_call` shows nothing.
                raise ImportError(text, name=module.__name__) from error
            raise AttributeError(text, name=name, obj=module) from error

    __getattr__.explains = owners  # type: ignore[attr-defined]
    vars(module)["__getattr__"] = __getattr__
    for name, inner in list(vars(module).items()):
        if isinstance(inner, ModuleType) and inner.__name__ == f"{module.__name__}.{name}":
            explain_absence(f"{owner}.{name}", inner)


def _nothing_more(module: ModuleType) -> Callable[[str], Any]:
    def nothing(name: str) -> Any:
        raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}", name=name, obj=module)

    return nothing


def _is_from_import(asking: FrameType) -> bool:
    from opcode import opname  # noqa: PLC0415 - 1 ms that only a missing name costs

    return opname[asking.f_code.co_code[asking.f_lasti]] == "IMPORT_FROM"


def read_table() -> list[dict[str, str]]:
    """The rows of `absent.json`."""
    rows: list[dict[str, str]] = parse_json(read_text(_TABLE, "MXNet's absent names"), "absent.json")
    return rows


@cache
def _rows() -> list[tuple[str, str]]:
    return [(pattern, row["why"]) for row in read_table() for pattern in row["names"].split()]
