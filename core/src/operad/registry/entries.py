"""Entry points of the other groups, and the state of all plugins."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from types import ModuleType

from operad.errors import BrokenPluginError, IncompatiblePluginError
from operad.registry import loading
from operad.registry.hooks import hooks
from operad.registry.plugins import FACES, NAMESPACES, PluginRecord
from operad.registry.policy import usable


def entry(group: str, name: str) -> object:
    """What the entry point `name` of `group` names, for example `("operad.kvstores", "dist_sync")`.

    Imported on first use; raises what `get` raises for operators.
    """
    return loading.current().entry(group, name)


def entry_names(group: str) -> list[str]:
    """The sorted names in `group` that are not switched off; imports nothing."""
    return sorted(n for n, entries in loading.current().manifest.entries(group).items() if usable(entries))


def loaded(group: str, problem: Callable[[object], str | None]) -> Iterator[tuple[str, object, str]]:
    """Everything usable in `group`: names, sorted, what they name, and the distribution and its version.

    What cannot be imported is left out with a warning, and so is what `problem` says something against.

    Raises:
        DuplicateOperatorError: Several distributions provide one name.
    """
    plugins = loading.current()
    for name in entry_names(group):
        point = plugins.choose(group, name)
        try:
            value = plugins.checked(point, problem)
        except (BrokenPluginError, IncompatiblePluginError) as error:
            warnings.warn(f"left out: {str(error).splitlines()[0]}", RuntimeWarning, stacklevel=2)
            continue
        yield name, value, str(point.owner)


def namespace(name: str) -> ModuleType:
    """The module that a plugin adds to operad's face as `operad.<name>`.

    Raises what `get` raises for operators.
    """
    module = entry(NAMESPACES, name)
    assert isinstance(module, ModuleType)
    return module


def on_face(face: str, name: str) -> object | None:
    """What a plugin adds to the module `operad.<face>` as `name`; None where none does.

    The entry point is called `nd.random`, say. Raises what `get` raises for operators that cannot be used.
    """
    full_name = f"{face}.{name}"
    return entry(FACES, full_name) if full_name in loading.current().manifest.entries(FACES) else None


def names_on_face(face: str) -> list[str]:
    """The sorted names that plugins add to the module `operad.<face>`; imports nothing."""
    return [name.removeprefix(f"{face}.") for name in entry_names(FACES) if name.startswith(f"{face}.")]


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
