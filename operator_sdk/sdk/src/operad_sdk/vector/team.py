"""Threads that compute parts of one kernel's work without the interpreter: they wait, and are woken, in it.

A thread of the interpreter must take its lock before it can begin and before it can say that it is done. For
parts of some tens of microseconds that is as long as the work. So a *helper* waits in machine code: at a
semaphore in a box of its own, where a job is posted. Whoever posts takes part, and parts are handed out by
one atomic addition; which thread computes which changes nothing.

State of a box, which only atomic exchanges change:

    0  free; the helper is awake, and looks
    1  a job is posted
    2  the helper works at it
    3  it is done
    4  it works, and who posted waits at the second semaphore
    5  free, and 6 it is done; the helper sleeps at the first semaphore

A helper that comes late finds a job taken back (1 -> 0) and goes on waiting: nobody waits for it. Who
posted returns when no box refers to the job any more, so that what it lies in may go.

A wait may end without a post: a signal interrupts it (-1), or a count is left of a job that was taken back.
So a wait that was interrupted begins again, and what ends one is only a reason to look: while the box says
"sleeps", or "works" to who posted, the thread waits again. Helpers block signals besides (`block_signals`).

To wake a thread takes 20 to 60 microseconds, as long as many a part. So a helper that had to wait less than
`_SHORT_NS` for its last job looks for the next one as long before it sleeps: kernels that follow each other
find it awake. One whose jobs come rarely sleeps at once, and takes no core from anybody.

Source: POSIX unnamed semaphores, which Linux has; elsewhere parts are computed by `OpContext.parallel`.
"""

from __future__ import annotations

import ctypes
import platform
from collections import namedtuple
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from math import prod
from pathlib import Path
from string import Template
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from operad.files import read_text
from operad.interrupts import start_thread
from operad.system import at_fork, has_semaphores
from operad_sdk.addresses import data_address
from operad_sdk.vector import bounds
from operad_sdk.vector.layout import BoundKernel
from operad_sdk.vector.machine import address_of, function_at
from operad_sdk.vector.settings import is_checked
from operad_sdk.vector.writer import NAME

_HAS_PAUSE: Final = platform.machine().lower() in ("x86_64", "amd64")
_PAUSE: Final = "void @llvm.x86.sse2.pause()"
"""Between two looks: some 20 to 50 nanoseconds in which a core's other thread has it alone."""
_LOOKS_PER_US: Final = 30 if _HAS_PAUSE else 1000
_SPINS: Final = 100 * _LOOKS_PER_US
"""Looks at a box before who posted waits at the semaphore."""
_LOOKS: Final = 200 * _LOOKS_PER_US
"""Looks of a helper before it sleeps, where its last job came soon."""
_SHORT_NS: Final = 200_000
"""Nanoseconds from one job to the next within which that is soon."""
_BoxWords = namedtuple("_BoxWords", "state job slot looks posted finished end")
_BOX: Final = _BoxWords(state=0, job=1, slot=2, looks=3, posted=8, finished=16, end=24)
"""Positions of the words of a box, in whose cache lines the state and each semaphore are alone."""


class _Job(ctypes.Structure):
    """Record that helpers read, faster to fill than an array; `tables` points to each part's table."""

    _fields_ = tuple(
        (name, ctypes.c_longlong)
        for name in ("function", "tables", "next_part", "parts", "units", "scratch", "scratch_bytes")
    )


@cache
def _text() -> str:
    words: dict[str, object] = {f"{name}_at": position for name, position in _BOX._asdict().items()}
    words |= {name: getattr(_Job, name).offset // 8 for name, *_ in _Job._fields_}
    words |= {"pause": f"call {_PAUSE}" * _HAS_PAUSE, "declared_pause": f"declare {_PAUSE}" * _HAS_PAUSE}
    path = Path(__file__).with_name("team.ll")
    text = Template(read_text(path, f"program {str(path)!r}"))
    return text.substitute(words, looks=_LOOKS, short_ns=_SHORT_NS)


@cache
def has_team() -> bool:
    """Return whether there are such threads here."""
    return has_semaphores()


@final
class _Box:
    """A helper's box, and the thread that waits at it for as long as the process lives."""

    def __init__(self, number: int) -> None:
        self._words = (ctypes.c_longlong * _BOX.end)()
        self.address: Final = ctypes.addressof(self._words)
        for word in (_BOX.posted, _BOX.finished):
            if ctypes.CDLL(None).sem_init(ctypes.c_void_p(self.address + 8 * word), 0, 0):
                raise OSError("a semaphore could not be made")
        self._function = function_at(address_of(_text(), "serve"))
        start_thread(f"operad-team-{number}", self._serve)

    def _serve(self) -> None:
        self._function(self.address, 0, 0, 0)


@final
class _Team:
    """As many helpers as were ever needed at once."""

    def __init__(self) -> None:
        self._renew()
        at_fork(after_in_child=self._renew)

    def _renew(self) -> None:
        self._free: list[_Box] = []
        self._hired = 0
        # invariant: memory is not in the list while a kernel runs, so that no other run has it.
        self._memory: list[NDArray[Any]] = []

    def run(self, kernel: BoundKernel, count: int, width: int) -> None:
        """Compute all units of a kernel in `count` parts, in up to `width` threads."""
        shape = min(width, count), kernel.scratch_bytes + 63 & -64
        size_bytes, memory = prod(shape), np.empty(0, np.uint8)
        with suppress(IndexError):
            memory = self._memory.pop()
        if len(memory) < size_bytes:
            memory = np.empty(size_bytes, np.uint8)
        scratch = memory[:size_bytes].reshape(shape)
        self.divide(kernel.address, [kernel.table] * count, kernel.units, scratch)
        self._memory.append(memory)

    def divide(self, function: int, tables: Sequence[int], units: int, scratch: NDArray[Any]) -> None:
        """Call `function(table, first, last, scratch)` for as many parts of all units as there are tables.

        Args:
            function: The address of a kernel.
            tables: The address of each part's table.
            units: How many rows, columns or images the parts divide.
            scratch: For each thread that takes part a row, in one piece.
        """
        begin, row_bytes = data_address(scratch), scratch.strides[0]
        if is_checked():
            tags = bounds.Tags.of_scratch("of several threads", scratch)
            begin, row_bytes = tags.addresses[0], row_bytes + bounds.NEXT_TAG
        free, boxes = self._free, list[_Box]()
        try:
            while len(boxes) < len(scratch) - 1:
                try:
                    boxes.append(free.pop())
                except IndexError:
                    try:
                        boxes.append(_Box(self._hired + 1))
                    except (OSError, RuntimeError):  # there may be no more threads: fewer compute all parts
                        break
                    self._hired += 1
            addresses = (ctypes.c_longlong * len(tables))(*tables)
            job = _Job(
                function=function, tables=ctypes.addressof(addresses), next_part=0, parts=len(tables),
                units=units, scratch=begin, scratch_bytes=row_bytes,
            )  # fmt: skip
            posted = (ctypes.c_longlong * len(boxes))(*[box.address for box in boxes])
            _post()(ctypes.addressof(job), len(boxes), _SPINS, ctypes.addressof(posted))
        finally:
            free.extend(boxes)  # of this process: a forked child has a list of its own
        if is_checked():
            bounds.expect_in_bounds()


@cache
def _post() -> Callable[[int, int, int, int], None]:
    return function_at(address_of(_text(), NAME))


team: Final = _Team()
