"""Speed of this machine: the constants that turn what an operation computes into microseconds.

The defaults are those of one core of a common machine (measured on an x86-64 server core with AVX-512,
float32, NumPy 2 on OpenBLAS). `operad tune` measures them here and writes a file, which is read once in a
process and is all that is read; without such a file there are the defaults.

A byte has two rates, that of the caches and that of memory. A call is taken to find half of the last-level
cache for its arrays, since other programs and earlier arrays have their part of it. An addition of arrays
that fill it takes two to three times as long per byte as one of arrays that fill a third.
"""

from __future__ import annotations

import functools
import math
import platform
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple, final

from operad.config import settings
from operad.errors import FormatError
from operad.files import parse_json, read_bytes

FORMAT: Final = "operad-tune 2"
_MOST: Final = 1e6
"""Bound that no constant of a machine reaches, in whatever unit it is."""


@final
class Correction(NamedTuple):
    """Measurements of a kernel beside its estimate.

    Attributes:
        base_us: What a call takes however small it is, in microseconds.
        factor: What loops, products and moved bytes are multiplied with.
    """

    base_us: float
    factor: float


@final
class Rates(NamedTuple):
    """Microseconds for each unit of a `Cost`.

    Attributes:
        loop_us: For an operation of a loop over elements.
        flop_us: For a multiplication or an addition of a product of matrices.
        byte_us: For a byte that is read or written where a call's arrays lie in caches.
        memory_us: For a byte beyond what caches hold.
        functions: What a function of elements takes beside reading and writing, in operations of loops.
        kernels: Corrections of kernels, by name.
    """

    loop_us: float
    flop_us: float
    byte_us: float
    memory_us: float
    functions: Mapping[str, float]
    kernels: Mapping[str, Correction]

    def moving_us(self, size_bytes: float) -> float:
        """Time of reading and writing in one call."""
        beyond = max(0.0, size_bytes - cached_bytes())
        return self.byte_us * (size_bytes - beyond) + self.memory_us * beyond


CONSTANTS: Final = Rates._fields[:4]
"""Those that are one number each."""

_FUNCTIONS: Final = {
    "arccos": 0.8, "arccosh": 1.4, "arcsin": 0.8, "arcsinh": 1.5, "arctan": 0.8, "arctan2": 1.3,
    "arctanh": 1.1, "cbrt": 0.6, "cos": 1.1, "cosh": 0.65, "erf": 8.0, "erfc": 8.0, "exp": 0.95, "exp2": 0.4,
    "expm1": 0.7, "float_power": 24.0, "floor_divide": 30.0, "fmod": 25.0, "gamma": 16.0, "hypot": 10.0,
    "lgamma": 16.0, "log": 0.75, "log10": 0.4, "log1p": 0.9, "log2": 0.45, "logical_and": 1.8,
    "logical_not": 1.3, "logical_or": 1.8, "logical_xor": 1.8, "power": 1.4, "remainder": 20.0, "sin": 1.1,
    "sinh": 0.75, "sqrt": 0.65, "tan": 0.8, "tanh": 0.7,
}  # fmt: skip
ARITHMETIC: Final = 0.1
"""Operations of loops that a function takes which no table lists: an addition, a comparison, a rounding."""

DEFAULTS: Final = Rates(5e-4, 1.2e-5, 1.1e-5, 3.5e-5, _FUNCTIONS, {})

_CACHES: Final = Path("/sys/devices/system/cpu/cpu0/cache")
_USUAL_BYTES: Final = 16 << 20
"""Taken for the last-level cache where the system does not say."""


class _InForce:
    """The constants of this process; None before the first question."""

    rates: Rates | None = None


def rates() -> Rates:
    """The constants in force: those of `operad tune`, or the defaults.

    Raises:
        FormatError: The file is there and is none of `operad tune`.
    """
    if _InForce.rates is None:
        path = tuned_path()
        _InForce.rates = read_rates(path) if path.exists() else DEFAULTS
    return _InForce.rates


def forget_rates() -> None:
    """Read the file anew when the constants are next asked for."""
    _InForce.rates = None


def function_cost(name: str) -> float:
    """Time of a function of elements beside reading and writing, in operations of loops.

    Args:
        name: NumPy's, or that of a scalar form.
    """
    functions = rates().functions
    found = functions.get(name)
    if found is None and name.startswith("a"):  # `acos` is `arccos`
        found = functions.get(f"arc{name[1:]}")
    return ARITHMETIC if found is None else found


@functools.cache
def cached_bytes() -> float:
    """Bytes of a call's arrays that caches hold: half of the last-level cache."""
    return _last_level_bytes(_CACHES) / 2


def _last_level_bytes(folder: Path) -> int:
    """The size of the largest cache that a folder of Linux's describes."""
    found = []
    for path in folder.glob("index*/size"):
        try:
            text = path.read_text(encoding="ascii").strip()
            found.append(int(text[:-1]) << {"K": 10, "M": 20}[text[-1]])
        except (OSError, ValueError, LookupError):  # a virtual machine may show any text
            continue
    return max(found, default=0) or _USUAL_BYTES


def machine() -> str:
    """The kind of processor, as far as the system says: constants hold for one kind."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            model = next((line.partition(":")[2].strip() for line in file if line[:10] == "model name"), "")
    except OSError:
        model = ""
    return f"{platform.machine()} {model or platform.processor()}".strip()


def tuned_path(folder: Path | None = None) -> Path:
    """File that `operad tune` writes for this kind of processor.

    Args:
        folder: In place of the setting `cache_dir`.
    """
    own = settings().cache_dir if folder is None else folder
    return own / f"tune-{zlib.crc32(machine().encode()):08x}.json"


def read_rates(path: Path) -> Rates:
    """The constants in a file of `operad tune`.

    Raises:
        FormatError: It is damaged, or no such file; the message says where, and what to do.
    """
    what = f"the constants of `operad tune` in {str(path)!r}"
    try:
        return _parsed(parse_json(read_bytes(path, what), what), what)
    except FormatError as error:
        raise FormatError(f"{error}; delete the file, or run `operad tune` again") from error


def _parsed(content: Any, what: str) -> Rates:
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        found = content.get("format") if isinstance(content, dict) else content
        raise FormatError(f"{what}: its format is {found!r:.40}, expected {FORMAT!r}")
    if content.get("machine") != machine():
        raise FormatError(f"{what}: measured on {content.get('machine')!r}, and this is {machine()!r}")
    constants = _numbers(content, "rates", what)
    if set(constants) != set(CONSTANTS):
        raise FormatError(f"{what}: rates has {sorted(constants)}, expected {sorted(CONSTANTS)}")
    kernels = _object(content, "kernels", what)
    corrections = {}
    for name in kernels:
        found = _numbers(kernels, name, what)
        if set(found) != set(Correction._fields):
            raise FormatError(f"{what}: kernel {name!r} has {sorted(found)}, expected base_us and factor")
        corrections[name] = Correction(**found)
    functions = {**_FUNCTIONS, **_numbers(content, "functions", what)}
    return Rates(**constants, functions=functions, kernels=corrections)


def _object(content: Mapping[str, Any], key: str, what: str) -> dict[str, Any]:
    found = content.get(key)
    if not isinstance(found, dict):
        raise FormatError(f"{what}: {key} is {found!r:.40}, expected an object")
    return found


def _numbers(content: Mapping[str, Any], key: str, what: str) -> dict[str, float]:
    found = _object(content, key, what)
    for name, value in found.items():
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not is_number or not math.isfinite(value) or not 0 <= value < _MOST:
            raise FormatError(f"{what}: {key}.{name} is {value!r:.40}, expected a number of 0 to {_MOST:.0e}")
    return found
