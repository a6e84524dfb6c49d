"""Speed of this machine: the constants that turn what an operation computes into microseconds.

The defaults are those of one core of a common machine (measured on an x86-64 server core with AVX-512,
float32, NumPy 2 on OpenBLAS). `operad tune` measures them here and writes a file, which is read once in a
process and is all that is read; without such a file, or with a damaged one, there are the defaults.

A byte has two rates, that of the caches and that of memory. A call is taken to find half of the last-level
cache for its arrays, since other programs and earlier arrays have their part of it. An addition of arrays
that fill it takes two to three times as long per byte as one of arrays that fill a third.
"""

from __future__ import annotations

import functools
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple, final

from operad.config import settings
from operad.files import cache, parse_json
from operad.system import last_level_cache_bytes, machine

_FORMAT: Final = "operad-tune 3"


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
    "arccos": 0.75, "arccosh": 1.25, "arcsin": 0.7, "arcsinh": 1.35, "arctan": 0.7, "arctan2": 1.1,
    "arctanh": 0.9, "cbrt": 0.5, "cos": 1.3, "cosh": 0.7, "erf": 8.0, "erfc": 8.0, "exp": 1.1, "exp2": 0.55,
    "expm1": 0.75, "float_power": 24.0, "floor_divide": 30.0, "fmod": 25.0, "gamma": 16.0, "hypot": 9.5,
    "lgamma": 16.0, "log": 0.8, "log10": 0.5, "log1p": 0.75, "log2": 0.5, "logical_and": 1.8,
    "logical_not": 1.3, "logical_or": 1.8, "logical_xor": 1.8, "power": 1.35, "remainder": 20.0, "sin": 1.3,
    "sinh": 0.75, "sqrt": 0.9, "tan": 0.75, "tanh": 0.55,
}  # fmt: skip
ARITHMETIC: Final = 0.1
"""Operations of loops that a function takes which no table lists: an addition, a comparison, a rounding."""

DEFAULTS: Final = Rates(5e-4, 1.2e-5, 1.1e-5, 3.5e-5, _FUNCTIONS, {})


@functools.cache
def rates() -> Rates:
    """The constants in force: those of `operad tune`, or the defaults."""
    content = cache.load(tuned_path())
    return DEFAULTS if content is None else parse_rates(content)


forget_rates: Final = rates.cache_clear
"""Has the file read again when the constants are next asked for."""


@functools.cache
def cached_bytes() -> float:
    """Bytes of a call's arrays that caches hold: half of the last-level cache."""
    return last_level_cache_bytes() / 2


def tuned_path(folder: Path | None = None) -> Path:
    """File that `operad tune` writes for this kind of processor.

    Args:
        folder: In place of the setting `cache_dir`.
    """
    own = settings().cache_dir if folder is None else folder
    return own / f"tune-{zlib.crc32(f'{_FORMAT} {machine()}'.encode()):08x}"


def parse_rates(content: bytes) -> Rates:
    """The constants in a file of `operad tune`: those of `Rates`, as JSON."""
    *constants, functions, kernels = parse_json(content, "the constants of `operad tune`")
    corrections = {name: Correction(*pair) for name, pair in kernels.items()}
    return Rates._make([*constants, {**_FUNCTIONS, **functions}, corrections])
