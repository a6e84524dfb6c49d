"""Hooks: behaviour that any number of plugins may add at a few points (pluggy, group `operad.hooks`).

An entry point names a module or object with functions marked `pluggy.HookimplMarker("operad")`.
Hooks are for rare events. What runs once an operator call looks at the relay once, when it binds,
and calls nothing where no plugin listens. pluggy is imported when the first hook plugin is found.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final, final

from operad.first_use import import_module
from operad.interrupts import raise_of_handler
from operad.registry import loading
from operad.registry.plugins import HOOKS

PROJECT: Final = "operad"
"""The project name for pluggy's markers."""


@final
class HookSpecs:
    """The hooks there are. All arguments are given by name; an implementation takes those it wants."""

    def executor_bound(self, executor: Any) -> None:
        """Called after an executor was bound, before its first run."""

    def operator_run(self, name: str, operator: str, outputs: Any) -> None:
        """Called after node `name` ran `operator`, in executors that are monitored."""

    def arrays_saved(self, path: str, names: list[str]) -> None:
        """Called after arrays were written to `path`; `names` is empty for an unnamed list."""


SPECS: Final = tuple(name for name in vars(HookSpecs) if not name.startswith("_"))
"""Names of the hooks."""


@final
class _NobodyListens:
    """The relay where no plugin implements a hook: every call gives no results."""

    def __getattr__(self, name: str) -> Any:
        if name not in SPECS:
            raise AttributeError(f"there is no hook {name!r}; the hooks are {', '.join(SPECS)}")
        return _no_results


def hooks() -> Any:
    """The relay: `hooks().executor_bound(executor=e)` calls every plugin's implementation.

    A hook plugin that cannot be loaded or does not fit the specifications is left out; see
    `plugins()` for the reason.
    """
    return _build(loading.current())


@lru_cache(maxsize=1)
def _build(plugins: loading.Plugins) -> Any:
    entries = [e for _, rivals in sorted(plugins.manifest.entries(HOOKS).items()) for e in rivals]
    found = [(entry, loaded) for entry in entries if (loaded := plugins.try_load(entry)) is not None]
    if not found:
        return _NobodyListens()
    manager = _manager()
    for entry, implementation in found:
        if manager.is_registered(implementation):
            continue
        problem = None
        try:
            manager.register(implementation, name=f"{entry.owner.name}:{entry.name}")
            manager.check_pending()
            if not manager.get_hookcallers(implementation):
                problem = f"it implements none of the hooks {', '.join(SPECS)}"
        except Exception as error:  # noqa: BLE001 - pluggy reads every attribute of the plugin
            raise_of_handler(error)
            problem = f"its hooks do not fit: {error}".replace("\n", " ")
        if problem is not None:
            if manager.is_registered(implementation):
                manager.unregister(implementation)
            plugins.mark_broken(entry, problem)
    return manager.hook


def _manager() -> Any:
    pluggy = import_module("pluggy")  # wanted only where a plugin has hooks

    specification = pluggy.HookspecMarker(PROJECT)
    for name in SPECS:
        specification(getattr(HookSpecs, name))
    manager = pluggy.PluginManager(PROJECT)
    manager.add_hookspecs(HookSpecs)
    return manager


def _no_results(**_: object) -> list[Any]:
    return []
