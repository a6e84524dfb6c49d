"""From an operator's name to its property class.

The first use of a name imports the one module that provides it; later uses are one dictionary
lookup. What is installed, under which names and by whom, is known without importing anything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final, Protocol, TypeVar

from operad.errors import ArgumentError, DuplicateOperatorError, OperatorNotFoundError
from operad.locks import new_lock
from operad.op import OperatorProperty
from operad.registry import kernels, loading
from operad.registry.discovery import Manifest
from operad.registry.kinds import KINDS, property_of
from operad.registry.plugins import OPERATORS, Entry, OperatorRecord
from operad.registry.policy import usable

T = TypeVar("T")


class Cache(Protocol):
    """Records derived from operators, emptied when what is installed or registered changes."""

    def clear(self) -> None:
        """Forget everything."""


C = TypeVar("C", bound=Cache)

THIS_PROCESS: Final = "this process"
"""In place of a distribution's name for operators that `register` added."""

_lock: Final = new_lock()
"""Guards what follows. Never held while files are read or a plugin is imported."""
_classes: Final[dict[str, type[OperatorProperty]]] = {}
_registered: Final[dict[str, type[OperatorProperty]]] = {}
_records: Mapping[str, OperatorRecord] | None = None
_followers: Final[list[Cache]] = []


def get(name: str) -> type[OperatorProperty]:
    """The property class of the operator `name`, which may be an alias.

    Raises:
        OperatorNotFoundError: Nothing installed provides it.
        DuplicateOperatorError: Several distributions provide it.
        BlockedPluginError: What provides it is switched off.
        IncompatiblePluginError: What provides it is not meant for the installed core.
        BrokenPluginError: Importing what provides it failed.
    """
    try:
        return _classes[name]
    except KeyError:
        pass
    return _load(name)


def find(name: str) -> OperatorRecord | None:
    """Record of the operator `name` without importing it; None where there is none to use."""
    return operators().get(name)


def provider(name: str) -> str:
    """The distribution that provides the operator `name`, and its version; "" where there is none."""
    record = find(name)
    return f"{record.distribution} {record.version}".rstrip() if record is not None else ""


def operators() -> Mapping[str, OperatorRecord]:
    """Every operator name that is not switched off, aliases included, sorted; imports no plugin."""
    global _records
    records = _records
    if records is None:
        manifest = loading.current().manifest  # read before the lock is taken
        with _lock:
            records = _records = MappingProxyType(dict(sorted(_all_records(manifest).items())))
    return records


def list_operators(aliases: bool = True) -> list[str]:
    """The sorted names of all operators; imports no plugin.

    Args:
        aliases: Whether to list second names as well.
    """
    return [name for name, record in operators().items() if aliases or not record.is_alias]


def register(operator: T, name: str | None = None, *, override: bool = False) -> T:
    """Add an operator to this process, for notebooks and tests; returns `operator`.

    Args:
        operator: What an `operad.operators` entry point may name.
        name: To ask for it by; default: its own.
        override: Put it in front of an operator of that name until `unregister`.

    Raises:
        ArgumentError: `operator` is of another kind.
        DuplicateOperatorError: The name is taken.
    """
    cls = property_of(operator)
    if cls is None:
        raise ArgumentError(f"register: got {operator!r}, expected {KINDS[OPERATORS].expected}")
    name = name or cls.name
    installed = loading.current().manifest.entries(OPERATORS)  # read before the lock is taken
    with _lock:
        if not override and (name in _registered or name in installed):
            raise DuplicateOperatorError(
                f"register: operator {name!r} exists already; give it another name, or pass override=True"
            )
        _registered[name] = _classes[name] = cls
        _forget_records()
    return operator


def unregister(name: str) -> None:
    """Take back what `register` added.

    Raises:
        OperatorNotFoundError: It added nothing of that name.
    """
    with _lock:
        if name not in _registered:
            raise OperatorNotFoundError(f"unregister: no operator {name!r} was registered in this process")
        del _registered[name], _classes[name]
        _forget_records()


def refresh() -> None:
    """Read the manifest again: a plugin was installed or removed, or a setting was reloaded.

    What was registered in this process stays. Modules that are imported stay imported, so a plugin
    that was upgraded is only seen by a new process; one that failed to import is tried again.
    """
    loading.renew()
    with _lock:
        for cls in _classes.values():
            kernels.attach(cls, ())
        _classes.clear()
        _classes.update(_registered)
        _forget_records()


def _load(name: str) -> type[OperatorProperty]:
    plugins = loading.current()
    entry = plugins.choose(OPERATORS, name)
    cls = plugins.load(entry)
    assert isinstance(cls, type)
    assert issubclass(cls, OperatorProperty)
    added = kernels.load_kernels(plugins, [other.name for other in _aliases(entry)])
    with _lock:
        if plugins is loading.current():
            kernels.attach(cls, added)
            return _classes.setdefault(name, cls)
    # Refreshed by another thread in the meantime.
    return get(name)


def _aliases(entry: Entry) -> list[Entry]:
    every = loading.current().manifest.all_entries()
    return [e for e in every if e._replace(name=entry.name) == entry]


def _all_records(manifest: Manifest) -> dict[str, OperatorRecord]:
    chosen = {name: usable(e) for name, e in manifest.entries(OPERATORS).items()}
    names: dict[tuple[str, str], list[str]] = {}
    for name, entries in chosen.items():
        for entry in entries:
            names.setdefault((entry.owner.name, entry.value), []).append(name)
    records = {name: _record(entries, names) for name, entries in chosen.items() if entries}
    for name, cls in _registered.items():
        canonical = cls.name if _registered.get(cls.name) is cls else name
        value = f"{cls.__module__}:{cls.__qualname__}"
        records[name] = OperatorRecord(name, canonical, THIS_PROCESS, "", value)
    return records


def _record(entries: Sequence[Entry], names: Mapping[tuple[str, str], list[str]]) -> OperatorRecord:
    entry, *rivals = entries
    canonical = _canonical(entry.value, names[entry.owner.name, entry.value])
    owner = entry.owner
    others = tuple(str(rival.owner) for rival in rivals)
    return OperatorRecord(entry.name, canonical, owner.name, owner.version, entry.value, others)


def _canonical(value: str, names: Sequence[str]) -> str:
    # The attribute is named for the operator; `sum_` and the like avoid Python's own names.
    attribute = value.rpartition(":")[2].rpartition(".")[2]
    for name in (attribute, attribute.rstrip("_")):
        if name in names:
            return name
    return min(names, key=lambda name: name.startswith("_"))


def follow(cache: C) -> C:
    """Have `cache` emptied whenever a name may stand for another operator; returns `cache`."""
    _followers.append(cache)
    return cache


def _forget_records() -> None:
    global _records
    _records = None
    for cache in _followers:
        cache.clear()
