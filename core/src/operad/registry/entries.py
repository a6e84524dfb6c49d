"""Entry points of the other groups, and the state of all plugins."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Sequence
from types import ModuleType
from typing import Any

from operad.config import settings
from operad.errors import BrokenPluginError, IncompatiblePluginError
from operad.registry import loading
from operad.registry.hooks import hooks
from operad.registry.packages import packages
from operad.registry.plugins import ATTRIBUTES, NAMESPACES, PluginRecord
from operad.registry.policy import usable


def entry(group: str, name: str) -> object:
    """Return what the entry point `name` of `group` names, for example `("operad.kvstores", "dist_sync")`.

    Imported on first use; raises what `get` raises for operators.
    """
    return loading.current().entry(group, name)


def entry_names(group: str) -> list[str]:
    """The sorted names in `group` that are not switched off; imports nothing."""
    return sorted(n for n, entries in loading.current().manifest.entries(group).items() if usable(entries))


def loaded(group: str) -> Sequence[tuple[str, object, str]]:
    """Everything usable in `group`: names, sorted, what they name, and the distribution and its version.

    What cannot be used is left out with a warning.

    Raises:
        DuplicateOperatorError: Several distributions provide one name.
    """
    plugins, found = loading.current(), list[tuple[str, object, str]]()
    key = group, settings()
    if key in plugins.loaded:
        return plugins.loaded[key]
    names = entry_names(group)
    for name in names:
        point = plugins.choose(group, name)
        try:
            found.append((name, plugins.load(point), str(point.owner)))
        except (BrokenPluginError, IncompatiblePluginError) as error:
            warnings.warn(f"left out: {str(error).splitlines()[0]}", RuntimeWarning, stacklevel=2)
    if len(found) == len(names):
        plugins.loaded[key] = found
    return found


def namespace(name: str) -> ModuleType:
    """The module that a plugin adds to operad as `operad.<name>`, with its modules `<name>.<inner>`.

    Raises what `get` raises for operators.
    """
    module = entry(NAMESPACES, name)
    assert isinstance(module, ModuleType)
    for inner in entry_names(NAMESPACES):
        first, _, last = inner.partition(".")
        if first == name and not hasattr(module, last):
            setattr(module, last, entry(NAMESPACES, inner))
    explain_absence(name, module)
    return module


def absent_text(name: str) -> str | None:
    """Why no package has a name of MXNet's, without `mxnet.`; see `Plugins.absent_text`."""
    return loading.current().absent_text(name)


def explain_absence(owner: str, module: ModuleType) -> None:
    """Have a plugin's module say so of names that it lacks.

    Args:
        owner: What MXNet calls the module, without `mxnet.`.
    """
    absent = loading.current().added("registry.absent")
    if absent is not None:
        absent.explain_absence(owner, module)


def find_attribute(owner: str, name: str) -> object | None:
    """Return what a plugin adds to `owner` as `name`; None where none does.

    Raises what `get` raises for operators that cannot be used.

    Args:
        owner: A module's name without `operad.` (`nd`), or a class's (`Symbol`): the entry point is called
            `nd.random`, say.
        name: The attribute.
    """
    full_name = f"{owner}.{name}"
    return (
        entry(ATTRIBUTES, full_name) if full_name in loading.current().manifest.entries(ATTRIBUTES) else None
    )


def get_attribute(owner: str, name: str) -> Any:
    """`find_attribute`, for the `__getattr__` of a module.

    Raises:
        AttributeError: No installed plugin adds it; the package that would is named.
    """
    if name == "__all__":
        return star_names(sys.modules[f"operad.{owner}"], attribute_names(owner))
    found = None if name.startswith("__") else find_attribute(owner, name)
    if found is None:
        how = way_to(f"{owner}.{name}") or "and no plugin adds it"
        raise AttributeError(f"'operad.{owner}' has no attribute {name!r}, {how}")
    return found


def way_to(full_name: str) -> str | None:
    """Package that adds an attribute, or why none does; None where nothing is known of it."""
    known = packages(ATTRIBUTES).get(full_name)
    return f"a plugin adds it: {known.install_line()}" if known else absent_text(full_name)


def star_names(module: object, added: Iterable[str] = ()) -> list[str]:
    """Return what `from module import *` takes: public names of a module that has more than its own.

    Its `__getattr__` gives them as `__all__`; `added` are those that `dir` does not show.
    """
    return sorted(name for name in {*dir(module), *added} if not name.startswith("_"))


def attribute_names(owner: str) -> list[str]:
    """The sorted names that plugins add to a module or class, and not to parts of it; imports nothing."""
    split = [name.rpartition(".") for name in entry_names(ATTRIBUTES)]
    return [name for head, _, name in split if head == owner]


def plugins() -> list[PluginRecord]:
    """Every distribution with an `operad.*` entry point, and how it fares so far.

    That a plugin is broken shows when something of it is loaded; `load_all` loads everything.
    """
    return loading.current().records()


def load_all() -> list[PluginRecord]:
    """Load every entry point that is not switched off; gives the state of all plugins."""
    current = loading.current()
    for point in current.manifest.all_entries():
        current.try_load(point)
    hooks()
    return current.records()
