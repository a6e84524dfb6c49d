"""Damaged files: mutations of real ones, given to the readers of every format; see `formats`.

Run as a program: `python -m tests.reliability.fuzzing FORMAT SECONDS SEED FOLDER [CASES]`, which reads
damaged files for so many seconds of processor time, or so many of them; FORMAT may be `all`. Every case is
written to the folder before it is read, so that one that ends the process stays there. Only an `OperadError`
may come out. Time, address space and the memory that one case takes are limited; exceeding them is a finding
like a crash. Every other case is read while warnings are errors and NumPy raises, and no reader may refuse a
file for that. No descriptor may stay open behind a case; the collector does not run, as it would hide that.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import random
import resource
import signal
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import operad as od
from operad import config
from tests.reliability.formats import FORMATS
from tests.reliability.seeds.distributions import only_distributions_of

MOST_ADDRESS_SPACE_BYTES = 6 << 30
"""Above what NumPy and the readers need, far below what a count of 64 bits in a file can ask for."""
MOST_SECONDS_PER_CASE = 10
"""Of processor time; twelve times as long by the clock, which a busy machine stretches."""
LIMITS = {"OPERAD_MAX_EXPANDED_BYTES": 256 << 20, "OPERAD_MAX_FILE_BYTES": 256 << 20}
"""Set for the program: what may be read and expanded at once."""
MOST_MEMORY_BYTES = sum(LIMITS.values()) + (128 << 20)
"""That the process may grow by, at its peak: the limits, and room for what else a reader makes."""

CASES_BETWEEN_COLLECTIONS = 50

_NUMBERS = (
    0, 1, 2, 3, 0x7F, 0x80, 0xFF, 0x112, 0x7FFFFFFF, 0xFFFFFFFF, 1 << 62, (1 << 63) - 1, (1 << 64) - 1,
)  # fmt: skip
_TOKENS = (
    b"null", b"-1", b"1e999", b"NaN", b"[]", b"{}", b'""', b'"\\ud800"', b"[[[[", b"9" * 400,
    b"true", b"\x00", b"[operad.operators]", b"\xff\xfe", b"\r\n", b"= :", b"Name:", b"Requires-Dist: ;;;",
    b"()", b"(0,)", b"(1000000000,)",
)  # fmt: skip

_TREES = {"json", "json-old", "initializer"}
"""Formats that are JSON, of which files are damaged that are JSON still."""


def mutated(seeds: list[bytes], rng: random.Random) -> bytes:
    """A damaged copy of one of `seeds`."""
    data = bytearray(rng.choice(seeds))
    for _ in range(rng.choice((1, 1, 2, 4, 16))):
        at, length = rng.randrange(len(data) + 1), rng.choice((1, 2, 4, 8, 64))
        kind = rng.randrange(8)
        if kind == 0 and at < len(data):
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            del data[at:]
        elif kind == 2:
            del data[at : at + length]
        elif kind == 3:
            data[at:at] = data[at : at + length] * rng.choice((1, 2, 50))
        elif kind == 4:
            size = rng.choice((4, 8))
            value = rng.choice(_NUMBERS) % (1 << (8 * size))
            data[at : at + size] = value.to_bytes(size, "little")
        elif kind == 5:
            data[at:at] = rng.choice(_TOKENS)
        elif kind == 6:
            other = rng.choice(seeds)
            start = rng.randrange(len(other) + 1)
            data[at : at + length] = other[start : start + length]
        else:
            data[at : at + length] = rng.randbytes(length)
    return bytes(data)


def restructured(text: bytes, rng: random.Random) -> bytes:
    """A text that is JSON still, with one value replaced by another of the file or of none."""
    tree = json.loads(text)
    places: list[tuple[Any, Any]] = []
    stack = [tree]
    while stack:
        node = stack.pop()
        for key in list(node) if isinstance(node, dict) else range(len(node)):
            places.append((node, key))
            if isinstance(node[key], (dict, list)):
                stack.append(node[key])
    for _ in range(rng.choice((1, 1, 2, 3))):
        node, key = rng.choice(places)
        other, other_key = rng.choice(places)
        values = [None, -1, 0, 1 << 70, 1.5, "", "x", "\ud800", [], {}, True, "(1000000000,)", "999999999999"]
        try:
            node[key] = rng.choice([*values, json.loads(json.dumps(other[other_key]))])
        except (KeyError, IndexError):  # an earlier replacement took it away
            continue
    return json.dumps(tree).encode()


def damaged(kind: str, seeds: list[bytes], rng: random.Random) -> bytes:
    """A file of a format, damaged in a way that its reader does not see at the first byte."""
    if kind in _TREES and rng.random() < 0.6:
        return restructured(rng.choice(seeds), rng)
    data = mutated(seeds, rng)
    return FORMATS[kind].repaired(data) if rng.random() < 0.8 else data


class TooLong(BaseException):
    """No `Exception`, which a reader might translate."""


@contextlib.contextmanager
def strict() -> Iterator[None]:
    """Warnings are errors, and NumPy raises; neither may be why a file is refused."""
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", UserWarning)  # what a reader says of a file
        try:
            yield
        except od.OperadError as error:
            cause: BaseException | None = error
            while cause is not None:
                if isinstance(cause, (FloatingPointError, Warning)) and not isinstance(cause, UserWarning):
                    raise AssertionError(f"refused for the caller's settings: {cause!r}") from error
                cause = cause.__cause__ or cause.__context__
            raise


def _too_long(*_: object) -> None:
    raise TooLong(f"one case took more than {MOST_SECONDS_PER_CASE} s")


def _num_descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def _peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main(kind: str, seconds: float, seed: int, folder: Path, cases: int | None = None) -> int:
    """Read damaged files of a format; how many. The first that misbehaves stays in `folder`, as `last`."""
    make_seeds, read, _ = FORMATS[kind]
    rng, seeds, path = random.Random(seed), make_seeds(), folder / "case"
    if kind == "metadata":
        only_distributions_of(folder)
    for data in seeds:
        path.write_bytes(data)
        with contextlib.suppress(od.OperadError), strict():
            read(path)  # what is imported on first use is found now
    resource.setrlimit(resource.RLIMIT_AS, (MOST_ADDRESS_SPACE_BYTES, MOST_ADDRESS_SPACE_BYTES))
    for late in (signal.SIGALRM, signal.SIGPROF):
        signal.signal(late, _too_long)
    end, count, before, opened = time.process_time() + seconds, 0, _peak_bytes(), _num_descriptors()
    gc.disable()
    while count != cases and time.process_time() < end:
        data = damaged(kind, seeds, rng)
        (folder / "last").write_bytes(data)
        path.write_bytes(data)
        count += 1
        for timer, longest in ((signal.ITIMER_PROF, 1), (signal.ITIMER_REAL, 12)):
            signal.setitimer(timer, longest * MOST_SECONDS_PER_CASE)
        with contextlib.suppress(od.OperadError), strict() if count % 2 else contextlib.nullcontext():
            read(path)
        for timer in (signal.ITIMER_PROF, signal.ITIMER_REAL):
            signal.setitimer(timer, 0)
        if _num_descriptors() > opened:
            raise AssertionError(f"open behind a case: {os.listdir('/proc/self/fd')}")
        if count % CASES_BETWEEN_COLLECTIONS == 0:
            gc.collect()
        if _peak_bytes() - before > MOST_MEMORY_BYTES:
            raise MemoryError(f"the process has grown by {_peak_bytes() - before:,} bytes")
    return count


if __name__ == "__main__":
    os.environ.update({name: str(limit) for name, limit in LIMITS.items()})
    config.reload()  # what was imported has read the settings
    most = int(sys.argv[5]) if len(sys.argv) > 5 else None
    # Metadata comes last, for it hides the packages that others may still import.
    for one in sorted(FORMATS, key="metadata".__eq__) if sys.argv[1] == "all" else [sys.argv[1]]:
        print(one, main(one, float(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]), most), flush=True)
