"""MXNet 1.9.1's public names, and where each is here.

`mxnet_names.json` is a record of MXNet itself (`tests/conformance/record_names.py`): for each module its
public names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, Final, Literal, final

import operad
from operad import OperadError
from operad.errors import OperatorNotFoundError
from operad.files import parse_json, read_text
from operad.operator import OperatorProperty
from operad_mxnet.absent import spelling, why_absent

Standing = Literal["here", "missing", "absent", "unknown"]

_OPERATORS: Final = "operad.operators"
_ATTRIBUTES: Final = "operad.attributes"
_ALIASES: Final = {
    "nd": "ndarray", "sym": "symbol", "mod": "module", "kv": "kvstore", "init": "initializer",
    "mon": "monitor", "viz": "visualization", "img": "image", "rnd": "random", "opt": "optimizer",
    "np": "numpy", "npx": "numpy_extension",
}  # fmt: skip
"""MXNet's short names of its modules."""


@final
@dataclass(frozen=True, slots=True)
class Found:
    """Place of a name of MXNet in operad.

    Attributes:
        name: The name, down to what is absent or to what a module has; without `mxnet.`.
        standing: here; missing, where a package has it that is not installed or does not work; absent, where
            MXNet has it and no package does; unknown, where MXNet 1.9.1 has no such public name.
        distribution: Which has it.
        why: Of a missing or absent name: what to do.
    """

    name: str
    standing: Standing
    distribution: str = ""
    why: str = ""


@cache
def record() -> Mapping[str, frozenset[str]]:
    """The public names of each module of MXNet 1.9.1; "" is `mxnet` itself."""
    text = read_text(Path(__file__).with_name("mxnet_names.json"), "MXNet's names")
    return {module: frozenset(names.split()) for module, names in parse_json(text, "MXNet's names").items()}


def public_names(module: str) -> frozenset[str]:
    """Names that `from mxnet.<module> import *` brings."""
    return record().get(_whole(module), frozenset())


def every_name() -> Iterator[str]:
    """All names of the record: `ndarray.tanh`."""
    return (f"{module}.{name}".lstrip(".") for module, names in record().items() for name in sorted(names))


def find(name: str) -> Found:
    """Look MXNet's `name` up: find the first part of it that is not here, or what a module has under it."""
    holder: Any = operad
    parts = name.split(".")
    for count, part in enumerate(parts, 1):
        head = ".".join(parts[:count])
        try:
            value = _attribute(holder, part, head)
        except Exception as error:  # noqa: BLE001 - plugins are imported, and may be broken
            return _not_here(head, error)
        if not isinstance(value, ModuleType):
            return Found(head, "here", _distribution(value))
        holder = value
    return Found(name, "here", _distribution(holder))


def _attribute(holder: Any, part: str, head: str) -> Any:
    try:
        return getattr(holder, part)
    except AttributeError:
        # A module inside a package, which is an attribute once it has been imported.
        if isinstance(holder, ModuleType) and head in record():
            from importlib import import_module  # noqa: PLC0415

            return import_module(f"operad.{head}")
        raise


def _not_here(name: str, error: Exception) -> Found:
    for group, key in _entry_points(name):
        package = operad.registry.package_of(key, group)
        if package is not None:
            line = operad.registry.install_line([key], group) or ""
            is_broken = isinstance(error, OperadError) and not isinstance(error, OperatorNotFoundError)
            return Found(name, "missing", package, str(error).partition("\n")[0] if is_broken else line)
    why = why_absent(name)
    module, _, last = name.rpartition(".")
    if why is None and (last in public_names(module) or _whole(name) in record()):
        why = "no package has it yet"
    if why is not None:
        return Found(name, "absent", why=why)
    is_private = any(part.startswith("_") for part in name.split("."))
    words = (
        "a private name, which MXNet promises in no version"
        if is_private
        else "no public name of MXNet 1.9.1"
    )
    return Found(name, "unknown", why=words)


def _entry_points(name: str) -> list[tuple[str, str]]:
    """The entry points that would provide a name: groups and names in them."""
    spelt = spelling(name)
    head, _, last = spelt.rpartition(".")
    if head == "nd":
        inner = last.replace("_contrib_", "contrib.", 1)
        return [(_OPERATORS, last), *[(_ATTRIBUTES, f"{face}.{inner}") for face in ("nd", "sym")]]
    if not head:
        return [("operad.namespaces", last), (_ATTRIBUTES, f"operad.{last}")]
    return [(_ATTRIBUTES, spelt), *([("operad.iterators", last)] if head == "io" else [])]


def _distribution(value: Any) -> str:
    """The distribution that a value comes from; empty where it does not say."""
    prop = getattr(value, "operator", None)
    if isinstance(prop, type) and issubclass(prop, OperatorProperty):  # its function is generated by the core
        return operad.registry.provider(prop.name).partition(" ")[0]
    home = value.__name__ if isinstance(value, ModuleType) else str(getattr(value, "__module__", ""))
    package = home.partition(".")[0]
    return package.replace("_", "-") if package.startswith("operad") else ""


def _whole(name: str) -> str:
    """A name with MXNet's long names of modules: `nd.contrib` is `ndarray.contrib`."""
    return ".".join(_ALIASES.get(part, part) for part in name.split("."))
