"""Entry points of the other groups, and the state of all plugins."""

from __future__ import annotations

from types import ModuleType

from operad.registry import loading
from operad.registry.hooks import hooks
from operad.registry.plugins import NAMESPACES, PluginRecord
from operad.registry.policy import usable


def entry(group: str, name: str) -> object:
    """What the entry point `name` of `group` names, for example `("operad.kvstores", "dist_sync")`.

    Imported on first use; raises what `get` raises for operators.
    """
    plugins = loading.current()
    return plugins.load(plugins.choose(group, name))


def entry_names(group: str) -> list[str]:
    """The sorted names in `group` that are not switched off; imports nothing."""
    return sorted(n for n, entries in loading.current().manifest.entries(group).items() if usable(entries))


def namespace(name: str) -> ModuleType:
    """The module that a plugin adds to operad's face as `operad.<name>`.

    A name with a dot, such as `nd.random`, is added to the face before the dot. Where the core has a module
    of the name, as `operad.random`, what that module lacks is looked up in the plugin's.

    Raises what `get` raises for operators.
    """
    module = entry(NAMESPACES, name)
    assert isinstance(module, ModuleType)
    return module


def namespaces_of(face: str) -> list[str]:
    """The sorted names of what plugins add to a face: `random`, of `nd.random`; imports nothing."""
    begin = f"{face}."
    return [name.removeprefix(begin) for name in entry_names(NAMESPACES) if name.startswith(begin)]


def find_namespace(face: str, name: str) -> ModuleType | None:
    """The module that a plugin adds to a face as `operad.<face>.<name>`; None where no plugin does.

    Raises what `get` raises for operators, where one does and it cannot be used.
    """
    is_there = f"{face}.{name}" in loading.current().manifest.entries(NAMESPACES)
    return namespace(f"{face}.{name}") if is_there else None


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
