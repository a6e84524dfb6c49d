"""Imports what entry points name, each once, and keeps the damage of a broken plugin inside it.

A plugin runs arbitrary code when it is imported, so anything may come out of it, `SystemExit` and
`SyntaxError` included. Whatever it is becomes a `Broken` record, and an error that shows the
plugin's own traceback where what it provides is asked for. Other calls do not notice.

Plugins are imported under one lock of ours (`first_use`), which a fork waits for, and what came of it is
recorded by single assignments. A module that is half imported is not ready yet, and never broken: a
finalizer, or the plugin itself, may ask for what it provides before it is there. What a thread inside
another import, or beside one that takes long, gets to see as broken is not recorded: it may be half
imported, too.

pluggy's own entry-point loader is not used: it drops a second distribution that uses a name already
taken, and one bad import stops the rest.
"""

from __future__ import annotations

import importlib
import locale
import re
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final, NoReturn, final

import numpy as np

from operad.engine.budget import kept_blas_threads
from operad.errors import BrokenPluginError, IncompatiblePluginError, OperadError, PluginNotReadyError
from operad.first_use import first_use, is_importing, was_alone
from operad.interrupts import is_of_handler
from operad.locks import new_lock
from operad.registry.discovery import Manifest, forget_listings, read_manifest
from operad.registry.kinds import ANYTHING, KINDS, Kind
from operad.registry.missing import not_found
from operad.registry.plugins import ATTRIBUTES, KERNELS, Broken, Distribution, Entry, PluginRecord
from operad.registry.policy import block_reason, choose, range_problem

_VALUE: Final = re.compile(r"(?P<module>[\w.]+)\s*(:\s*(?P<path>[\w.]+))?\s*(\[.*\])?\s*")
_OUR_FILES: Final = (__file__, importlib.__file__)

_Key = tuple[str, str, str, Kind]


class _Unusable(Exception):  # noqa: N818 - never leaves this module
    """The object that an entry point names is missing or of the wrong kind."""


@final
class Plugins:
    """The installed plugins, and what has been loaded of them, since the manifest was last read."""

    def __init__(self) -> None:
        self._manifest: Manifest | None = None
        self._outcomes: dict[_Key, object] = {}  # what was found, or a Broken
        self._entries: dict[tuple[str, str], object] = {}  # what was asked for by group and name
        self.loaded: dict[tuple[str, object], list[tuple[str, object, str]]] = {}  # whole groups, by settings

    @property
    def manifest(self) -> Manifest:
        """The entry points of everything installed; read on first use."""
        return self._manifest or first_use(self._read)

    def _read(self) -> Manifest:
        manifest = self._manifest
        if manifest is None:
            manifest = self._manifest = read_manifest()
        return manifest

    def entry(self, group: str, name: str) -> object:
        """Return what the entry point `name` of `group` names; raises what `choose` and `load` raise."""
        key = (group, name)
        if key not in self._entries:
            self._entries[key] = self.load(self.choose(group, name))
        return self._entries[key]

    def choose(self, group: str, name: str) -> Entry:
        """The entry point `name` of `group`; imports nothing.

        Raises:
            OperatorNotFoundError: Nothing installed provides it.
            BlockedPluginError: What provides it is switched off.
            DuplicateOperatorError: Several distributions provide it.
        """
        named = self.manifest.entries(group)
        if name not in named:
            raise not_found(group, name, named, self.absent_text, self.manifest.unreadable)
        return choose(named[name])

    def load(self, entry: Entry) -> object:
        """Return what `entry` names, checked and adapted to its group.

        Raises:
            IncompatiblePluginError: Its distribution is not meant for the installed core.
            BrokenPluginError: Importing it failed, now or before, or it is not what the group needs.
        """
        key = _key(entry)
        found = self._outcomes.get(key)
        if found is None:
            found = first_use(self._load, key, entry)
        if isinstance(found, Broken) and key not in self._outcomes and not is_importing():
            found = first_use(self._load, key, entry)  # two imports in opposite order may have met
        if isinstance(found, Broken):
            _raise_broken(entry, found)
        return found

    def _load(self, key: _Key, entry: Entry) -> object:
        found = self._outcomes.get(key)
        if found is None:
            problem = range_problem(entry.owner, self.manifest.core_version)
            if problem is not None:
                raise IncompatiblePluginError(f"{entry.title} of {entry.owner} cannot be used: {problem}")
            found = _attempt(entry)
            if not isinstance(found, Broken) or was_alone():
                found = self._outcomes.setdefault(key, found)  # another thread's, where that was faster
        return found

    def try_load(self, entry: Entry) -> object | None:
        """Like `load`; None where that raises or the entry is switched off."""
        if block_reason(entry.owner) is not None:
            return None
        try:
            return self.load(entry)
        except (IncompatiblePluginError, BrokenPluginError):
            return None

    def added(self, name: str) -> Any:
        """Return what a plugin adds under `operad.attributes`; None, if none does or it is broken."""
        points = self.manifest.entries(ATTRIBUTES).get(name, ())
        return next(filter(None, map(self.try_load, points)), None)

    def absent_text(self, name: str) -> str | None:
        """Why no package has a name of MXNet's, as the plugin that has these says; without one None."""
        absent = self.added("registry.absent")
        return None if absent is None else absent.absent_text(name)

    def mark_broken(self, entry: Entry, reason: str) -> None:
        """Record that what `entry` names turned out to be of no use."""
        self._outcomes[_key(entry)] = Broken(entry.owner.name, "", entry, reason)
        self.loaded.clear()

    def records(self) -> list[PluginRecord]:
        """Every distribution with entry points of ours, and how it fares; unreadable ones last."""
        unread = [
            PluginRecord(*broken.distribution.partition(" ")[::2], {}, "broken", broken.reason, (broken,))
            for broken in self.manifest.unreadable
        ]
        return [*map(self._record, self.manifest.distributions), *unread]

    def _record(self, owner: Distribution) -> PluginRecord:
        own = [entry for entry in self.manifest.all_entries() if entry.owner == owner]
        groups: dict[str, tuple[str, ...]] = {}
        for entry in own:
            groups[entry.group] = (*groups.get(entry.group, ()), entry.name)
        record = PluginRecord(owner.name, owner.version, groups, "ok")
        if (reason := block_reason(owner)) is not None:
            return record._replace(state="blocked", reason=reason)
        if (reason := range_problem(owner, self.manifest.core_version)) is not None:
            unusable = tuple(Broken(owner.name, "", entry, reason) for entry in own)
            return record._replace(state="incompatible", reason=reason, broken=unusable)
        tried = {key: found for key, found in self._outcomes.copy().items() if isinstance(found, Broken)}
        broken = tuple({key: tried[key] for entry in own if (key := _key(entry)) in tried}.values())
        if broken:
            reason = "; ".join(f"{b.entry.title}: {b.reason}" for b in broken if b.entry)
            return record._replace(state="broken", reason=reason, broken=broken)
        return record


_current = Plugins()


def current() -> Plugins:
    """The process's plugins."""
    return _current


def renew() -> None:
    """Forget the manifest and what was loaded; modules that are imported stay imported."""
    global _current
    forget_listings()
    _current = Plugins()


def _key(entry: Entry) -> _Key:
    # Not the name: an alias is another name for one value, and one value is loaded once; and again where
    # the package that uses the group was imported since, and has said what kind of objects it needs.
    return (entry.group, entry.owner.name, entry.value, KINDS.get(entry.group, ANYTHING))


def _attempt(entry: Entry) -> object:
    try:
        return _resolve(entry)
    except (KeyboardInterrupt, PluginNotReadyError):
        raise
    except _Unusable as error:
        return Broken(entry.owner.name, "", entry, str(error))
    except BaseException as error:  # whatever comes out of it, the rest must work
        if is_of_handler(error):
            raise
        return _broken_by(error, entry)


def _resolve(entry: Entry) -> object:
    parts = _VALUE.fullmatch(entry.value)
    if parts is None:
        raise _Unusable(f"its value {entry.value!r} is not of the form 'module:attribute'")
    if entry.group == KERNELS and not all(entry.name.partition(".")):
        raise _Unusable("its name adds it to no operator, expected the operator's, a dot, and one of its own")
    with _kept_settings():
        module = importlib.import_module(parts["module"])
    if getattr(module.__spec__, "_initializing", False):
        raise PluginNotReadyError(
            f"{entry.title} of {entry.owner} is being imported and not ready yet; use it neither in its own "
            "import nor in a finalizer that may run there"
        )
    found: object = module
    for attribute in (parts["path"] or "").split(".") if parts["path"] else ():
        if not hasattr(found, attribute):
            raise _Unusable(f"{entry.value!r} does not exist{_nearest(found, parts['module'], attribute)}")
        found = getattr(found, attribute)
    kind = KINDS.get(entry.group, ANYTHING)
    adapted = kind.adapt(found)
    if adapted is None:
        what = f"class {found.__name__}" if isinstance(found, type) else type(found).__name__
        raise _Unusable(f"{entry.value!r} is of the wrong kind ({what}), expected {kind.expected}")
    return adapted


@contextmanager
def _kept_settings() -> Iterator[None]:
    """Undo what an import does to NumPy's error state, the warning filters, the locale and BLAS's threads.

    They are the program's, and would change the results of operators that have nothing to do with it. Of
    imports side by side the last that ends puts back what the first one found.
    """
    me = object()
    with np.errstate():
        try:
            with _settings_lock:
                _kept[me] = next(iter(_kept.values())) if _kept else _settings()
            yield
        finally:
            with _settings_lock:
                kept = _kept.pop(me, None)
                if kept is not None and not _kept:
                    kept.close()


_kept: Final[dict[object, ExitStack]] = {}
"""One entry for each import that is going on: all of them what puts the process's settings back."""
_settings_lock: Final = new_lock()


def _settings() -> ExitStack:
    found = ExitStack()
    found.callback(locale.setlocale, locale.LC_ALL, locale.setlocale(locale.LC_ALL))
    found.enter_context(warnings.catch_warnings())
    found.enter_context(kept_blas_threads())
    return found


def _nearest(found: object, module: str, attribute: str) -> str:
    import difflib  # noqa: PLC0415 - 2 ms that only a broken plugin costs

    close = difflib.get_close_matches(attribute, dir(found), n=1)
    hint = f"; did its author mean {close[0]!r}?" if close else ""
    return f": {getattr(found, '__name__', module)} has no attribute {attribute!r}{hint}"


def _broken_by(error: BaseException, entry: Entry) -> Broken:
    import traceback  # noqa: PLC0415 - 2 ms that only a broken plugin costs

    report = traceback.TracebackException.from_exception(error)
    # The frames between the import statement and the plugin say nothing about the plugin.
    frames = [frame for frame in report.stack if not _is_import_machinery(frame.filename)]
    own = [place for place, frame in enumerate(frames) if _is_of_package(frame.filename, entry)]
    if own and isinstance(error, OperadError):
        del frames[own[-1] + 1 :]  # nor do those in which the toolkit reads a declaration
    report.stack[:] = frames
    last = "".join(report.format_exception_only()).strip().splitlines()[-1]
    reason = f"importing {entry.value!r} failed with {last}"
    place = f"{frames[own[-1]].filename}:{frames[own[-1]].lineno}" if own else ""
    is_installed = not place or "site-packages" in Path(place).parts
    return Broken(entry.owner.name, "".join(report.format()), entry, reason, "" if is_installed else place)


def _is_of_package(filename: str, entry: Entry) -> bool:
    """Return whether a file is of the package that an entry point names."""
    package = entry.value.partition(":")[0].partition(".")[0]
    return package in (*Path(filename).parts, Path(filename).stem)


def _is_import_machinery(filename: str) -> bool:
    return filename in _OUR_FILES or filename.startswith("<frozen importlib")


def _raise_broken(entry: Entry, broken: Broken) -> NoReturn:
    owner = entry.owner
    advice = f"update or uninstall {owner.name}, or set OPERAD_BLOCK={owner.name}"
    if broken.place:  # developed here
        advice = f"correct {broken.place}, or set OPERAD_BLOCK={owner.name}"
    message = f"{entry.title} of {owner} cannot be used: {broken.reason}; {advice}"
    raise BrokenPluginError(f"{message}\n{broken.traceback}" if broken.traceback else message)
