"""Every setting operad reads from the environment, in one place.

Nothing else in operad looks at `os.environ`. `settings()` reads the variables once, on first use;
an `OPERAD_*` name that is not listed here is refused with a suggestion, so that a misspelt setting
never passes silently. Plugins declare settings of their own with `plugin_setting` and an entry point in
`operad.settings` that has the variable's name, so that names are known before a plugin is imported.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple, final

from operad.errors import ConfigError
from operad.interrupts import raise_of_handler
from operad.system import available_cores

if TYPE_CHECKING:
    from pathlib import Path


def at_least(least: int) -> Callable[[str], int]:
    """Return a reader of integers that are not smaller."""

    def parse(text: str) -> int:
        number = int(text)
        if number < least:
            raise ValueError(f"expected an integer of at least {least}")
        return number

    return parse


_positive, _non_negative = at_least(1), at_least(0)


def flag(text: str) -> bool:
    """Read 0 or 1."""
    word = text.strip().lower()
    if word not in ("1", "true", "on", "0", "false", "off", ""):
        raise ValueError("expected 0 or 1")
    return word in ("1", "true", "on")


def one_of(*choices: str) -> Callable[[str], str]:
    """Return a reader of one of some words."""

    def parse(text: str) -> str:
        if text not in choices:
            raise ValueError(f"expected one of {', '.join(choices)}")
        return text

    return parse


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _path(text: str) -> Path:
    from pathlib import Path  # noqa: PLC0415 - lazy: 5 ms that import need not pay

    return Path(text)


def _cache_folder() -> Path:
    return _path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")) / "operad"


def _half_of_memory() -> int:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (AttributeError, OSError, ValueError):  # not every system tells
        return 16 << 30


@final
class Option:
    """One setting; `option` makes it, an attribute of `Settings`.

    Attributes:
        field: Its name in `Settings`.
        variable: The variable that carries it: its name behind `OPERAD_`, in capitals.
        parse: How the variable's text is read.
        default: The value where the variable is not set, or a function that gives it.
        doc: Its meaning.
    """

    def __init__(self, parse: Callable[[str], Any], default: Any, doc: str) -> None:
        self.parse, self.default, self.doc = parse, default, doc
        self.field = self.variable = ""

    def read(self, environ: Mapping[str, str] | None = None) -> Any:
        """The value now.

        Raises:
            ConfigError: The variable's text cannot be used.
        """
        reading = _read(self, os.environ if environ is None else environ)
        if reading.problem is not None:
            raise ConfigError(reading.problem)
        return reading.value


def option(parse: Callable[[str], Any], default: Any, doc: str) -> Any:
    """Declare a setting as an attribute of `Settings`."""
    return Option(parse, default, doc)


def plugin_setting(variable: str, parse: Callable[[str], Any], default: Any, doc: str) -> Option:
    """Declare a setting of a plugin; `read` gives its value.

    Args:
        variable: The environment variable, and the name of the plugin's entry point in `operad.settings`.
        parse: Reads the variable's text and raises ValueError where it cannot: `at_least(1)`, `one_of(...)`,
            `flag`, or a function of the plugin.
        default: The value where the variable is not set, or a function that gives it.
        doc: Its meaning, for `operad doctor` and for errors.
    """
    made = Option(parse, default, doc)
    made.field, made.variable = variable.removeprefix("OPERAD_").lower(), variable
    return made


OF_PLUGINS: Final = ("OPERAD_KV_",)
"""Variables of these prefixes belong to plugins, which read and check them."""
PLUGIN_SETTINGS: Final = "operad.settings"
"""The group of entry points by which plugins declare settings; each has the variable's name."""


@final
class Settings:
    """The settings in force, one attribute per option."""

    # fmt: off
    engine: str = option(one_of("threaded", "naive"), "threaded",
        "Engine of the process: `threaded`, or `naive` to run everything in the calling thread.")
    num_threads: int = option(_positive, available_cores,
        "Threads that engine workers and the libraries below them use together; default: usable cores.")
    inline_us: int = option(_non_negative, 200,
        "What is estimated at no more microseconds may run in the pushing thread; 0 switches that off.")
    parallel_flops: int = option(_non_negative, 50_000_000,
        "Operations with products of fewer multiplications and additions are told to use one thread.")
    max_pending: int = option(_positive, 100_000,
        "Operations that may be pending before a push from outside the engine waits.")
    max_pending_bytes: int = option(_non_negative, 256 << 20,
        "Bytes that pending operations may hold before a push from outside the engine waits.")
    pool: bool = option(flag, True,
        "Whether freed memory is pooled for reuse.")
    pool_limit_bytes: int = option(_non_negative, 4 << 30,
        "Bytes a device's pool may hold idle; beyond it freed memory goes back to the system.")
    debug: bool = option(flag, False,
        "Extra checks: storage use after free, poisoned fresh memory, whole tracebacks.")
    block: tuple[str, ...] = option(_names, (),
        "Distributions (comma-separated) whose plugins are not used.")
    prefer: tuple[str, ...] = option(_names, (),
        "`a>b` pairs (comma-separated): where distributions a and b provide one operator, use a's.")
    safe: bool = option(flag, False,
        "Load no plugin, and read nothing of what is installed.")
    cache_dir: Path = option(_path, _cache_folder,
        "Folder for compiled kernels and tuning results.")
    max_file_bytes: int = option(_positive, _half_of_memory,
        "Bytes of files that all threads may read at once; default: half of the machine's memory.")
    max_text_bytes: int = option(_positive, 32 << 20,
        "Bytes of one text that is read whole (JSON, metadata), or of one line of another.")
    mapper: str = option(one_of("auto", "python", "numpy", "vector"), "auto",
        "Back end of scalar mappers; `auto` takes vector code for large arrays, where there is any.")
    # fmt: on

    def __init__(self, environ: Mapping[str, str]) -> None:
        found = [_read(option, environ) for option in OPTIONS]
        for problem in (*_unknown(environ), *(reading.problem for reading in found)):
            if problem is not None:
                raise ConfigError(problem)
        vars(self).update({reading.option.field: reading.value for reading in found})


_NAMED: Final = {name: found for name, found in vars(Settings).items() if isinstance(found, Option)}
for _field, _option in _NAMED.items():
    _option.field, _option.variable = _field, f"OPERAD_{_field.upper()}"
OPTIONS: Final = tuple(_NAMED.values())
_SAFE: Final = next(option for option in OPTIONS if option.field == "safe")


def _unknown(environ: Mapping[str, str]) -> Iterator[str]:
    known = [option.variable for option in OPTIONS]
    ours = [name for name in environ if name.startswith("OPERAD_") and not name.startswith(OF_PLUGINS)]
    strange = [name for name in ours if name not in known]
    if strange and (declared := _declared_by_plugins(environ)) is not None:
        known += sorted(declared)
        for name in (name for name in strange if name not in declared):
            import difflib  # noqa: PLC0415 - lazy: only errors need it

            # The prefix is common to all, so likeness without it decides.
            tails = [variable.removeprefix("OPERAD_") for variable in known]
            close = difflib.get_close_matches(name.removeprefix("OPERAD_"), tails, n=1)
            hint = f"did you mean OPERAD_{close[0]}?" if close else f"known settings: {', '.join(known)}"
            yield f"unknown setting {name}; {hint}"


def _declared_by_plugins(environ: Mapping[str, str]) -> set[str] | None:
    """The variables of installed plugins, none of which is imported; None where that cannot be known."""
    if _read(_SAFE, environ).value:
        return None
    from importlib import metadata  # noqa: PLC0415 - lazy: 40 ms, where a variable is not operad's own

    try:
        return {point.name for point in metadata.entry_points(group=PLUGIN_SETTINGS)}
    except Exception as error:  # noqa: BLE001 - whatever a damaged file of anybody's leads to
        raise_of_handler(error)
        return None


@final
class Reading(NamedTuple):
    """One setting as the environment has it now.

    Attributes:
        option: The setting.
        text: Of its variable; None where that is not set.
        value: What it means, or the default.
        problem: Why the text cannot be used, in which case `value` is the default.
    """

    option: Option
    text: str | None
    value: Any
    problem: str | None


def readings(options: Sequence[Option] = ()) -> list[Reading]:
    """Every setting as the environment has it now, unusable ones included; raises nothing.

    Args:
        options: Those of plugins, to be read as well.
    """
    return [_read(option, os.environ) for option in (*OPTIONS, *options)]


def _read(option: Option, environ: Mapping[str, str]) -> Reading:
    text = environ.get(option.variable)
    problem = None
    if text is not None:
        try:
            return Reading(option, text, option.parse(text), None)
        except ValueError as error:
            problem = f"{option.variable}={text!r}: {error}; {option.doc}"
    default = option.default
    return Reading(option, text, default() if callable(default) else default, problem)


def unknown_settings() -> list[str]:
    """Problems of `OPERAD_*` variables that are no settings."""
    return list(_unknown(os.environ))


@cache
def settings() -> Settings:
    """The process's settings, read from the environment on first use.

    Raises:
        ConfigError: An `OPERAD_*` variable is unknown or unusable.
    """
    return Settings(os.environ)


def reload() -> Settings:
    """Read the environment again; what was already built from older settings stays as it is."""
    settings.cache_clear()
    return settings()
