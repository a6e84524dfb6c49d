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
import threading
from collections import namedtuple
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from operad.interrupts import block_signals
from operad.system import at_fork, has_semaphores
from operad_sdk.vector.addresses import data_address
from operad_sdk.vector.layout import BoundKernel
from operad_sdk.vector.machine import address_of, function_at
from operad_sdk.vector.writer import NAME

_HAS_PAUSE: Final = platform.machine().lower() in ("x86_64", "amd64")
_PAUSE: Final = "call void @llvm.x86.sse2.pause()" if _HAS_PAUSE else ""
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


_TEXT: Final = f"""
{"declare void @llvm.x86.sse2.pause()" if _HAS_PAUSE else ""}
declare i32 @clock_gettime(i32, ptr)
declare i32 @sem_wait(ptr)
declare i32 @sem_post(ptr)

define private i1 @exchange(ptr %state, i64 %from, i64 %to) {{
  %pair = cmpxchg ptr %state, i64 %from, i64 %to seq_cst seq_cst
  %is_done = extractvalue {{ i64, i1 }} %pair, 1
  ret i1 %is_done
}}

define private i1 @is_done(ptr %box) {{
  %state = load atomic i64, ptr %box seq_cst, align 8
  %is_awake = icmp eq i64 %state, 3
  %sleeps = icmp eq i64 %state, 6
  %is_done = or i1 %is_awake, %sleeps
  ret i1 %is_done
}}

define private void @work(ptr %job, i64 %slot) {{
entry:
  %tables_at = getelementptr i64, ptr %job, i64 {_Job.tables.offset // 8}
  %next_at = getelementptr i64, ptr %job, i64 {_Job.next_part.offset // 8}
  %parts_at = getelementptr i64, ptr %job, i64 {_Job.parts.offset // 8}
  %units_at = getelementptr i64, ptr %job, i64 {_Job.units.offset // 8}
  %scratch_at = getelementptr i64, ptr %job, i64 {_Job.scratch.offset // 8}
  %bytes_at = getelementptr i64, ptr %job, i64 {_Job.scratch_bytes.offset // 8}
  %function = load ptr, ptr %job
  %tables = load ptr, ptr %tables_at
  %parts = load i64, ptr %parts_at
  %units = load i64, ptr %units_at
  %scratches = load ptr, ptr %scratch_at
  %bytes = load i64, ptr %bytes_at
  %offset = mul i64 %bytes, %slot
  %scratch = getelementptr i8, ptr %scratches, i64 %offset
  br label %take
take:
  %part = atomicrmw add ptr %next_at, i64 1 seq_cst
  %is_left = icmp slt i64 %part, %parts
  br i1 %is_left, label %compute, label %end
compute:
  %table_at = getelementptr ptr, ptr %tables, i64 %part
  %table = load ptr, ptr %table_at
  %following = add i64 %part, 1
  %before = mul i64 %units, %part
  %first = sdiv i64 %before, %parts
  %behind = mul i64 %units, %following
  %last = sdiv i64 %behind, %parts
  call void %function(ptr %table, i64 %first, i64 %last, ptr %scratch)
  br label %take
end:
  ret void
}}

define private i64 @now(ptr %time) {{
  %error = call i32 @clock_gettime(i32 1, ptr %time)
  %nanoseconds_at = getelementptr i64, ptr %time, i64 1
  %seconds = load i64, ptr %time
  %nanoseconds = load i64, ptr %nanoseconds_at
  %whole = mul i64 %seconds, 1000000000
  %sum = add i64 %whole, %nanoseconds
  ret i64 %sum
}}

define void @serve(ptr %box, i64 %unused, i64 %unused2, ptr %unused3) {{
entry:
  %job_at = getelementptr i64, ptr %box, i64 {_BOX.job}
  %slot_at = getelementptr i64, ptr %box, i64 {_BOX.slot}
  %posted = getelementptr i64, ptr %box, i64 {_BOX.posted}
  %finished = getelementptr i64, ptr %box, i64 {_BOX.finished}
  %looks_at = getelementptr i64, ptr %box, i64 {_BOX.looks}
  %time = alloca [2 x i64]
  br label %rest
rest:
  %since = call i64 @now(ptr %time)
  br label %wait
wait:
  %looks = load i64, ptr %looks_at
  br label %look
look:
  %k = phi i64 [ 0, %wait ], [ %k2, %look2 ]
  %state = load atomic i64, ptr %box seq_cst, align 8
  %is_posted = icmp eq i64 %state, 1
  br i1 %is_posted, label %take, label %look2
look2:
  {_PAUSE}
  %k2 = add i64 %k, 1
  %is_long = icmp sgt i64 %k2, %looks
  br i1 %is_long, label %tire, label %look
tire:
  %is_free = call i1 @exchange(ptr %box, i64 0, i64 5)
  br i1 %is_free, label %sleep, label %tire2
tire2:
  %is_uncollected = call i1 @exchange(ptr %box, i64 3, i64 6)
  br i1 %is_uncollected, label %sleep, label %wait
sleep:
  %error = call i32 @sem_wait(ptr %posted)
  %is_interrupted = icmp ne i32 %error, 0
  br i1 %is_interrupted, label %sleep, label %woken
woken:
  ; invariant: only who posts takes 5 or 6 away, so a thread that finds them was woken by nothing
  %seen = load atomic i64, ptr %box seq_cst, align 8
  %still_sleeps = icmp sge i64 %seen, 5
  br i1 %still_sleeps, label %sleep, label %wait
take:
  %is_mine = call i1 @exchange(ptr %box, i64 1, i64 2)
  br i1 %is_mine, label %help, label %wait
help:
  %until = call i64 @now(ptr %time)
  %waited = sub i64 %until, %since
  %is_soon = icmp slt i64 %waited, {_SHORT_NS}
  %looks2 = select i1 %is_soon, i64 {_LOOKS}, i64 0
  store i64 %looks2, ptr %looks_at
  %job = load ptr, ptr %job_at
  %slot = load i64, ptr %slot_at
  call void @work(ptr %job, i64 %slot)
  %before = atomicrmw xchg ptr %box, i64 3 seq_cst
  %is_awaited = icmp eq i64 %before, 4
  br i1 %is_awaited, label %tell, label %rest
tell:
  %error2 = call i32 @sem_post(ptr %finished)
  br label %rest
}}

; boxes: addresses of boxes, of which each is free
define void @kernel(ptr %job, i64 %count, i64 %spins, ptr %boxes) {{
entry:
  %has_boxes = icmp sgt i64 %count, 0
  br i1 %has_boxes, label %post, label %own
post:
  %i = phi i64 [ 0, %entry ], [ %i2, %following ]
  %i2 = add i64 %i, 1
  %at = getelementptr ptr, ptr %boxes, i64 %i
  %box = load ptr, ptr %at
  %job_at = getelementptr i64, ptr %box, i64 {_BOX.job}
  %slot_at = getelementptr i64, ptr %box, i64 {_BOX.slot}
  %posted = getelementptr i64, ptr %box, i64 {_BOX.posted}
  store ptr %job, ptr %job_at
  store i64 %i2, ptr %slot_at
  %before = atomicrmw xchg ptr %box, i64 1 seq_cst
  %is_asleep = icmp eq i64 %before, 5
  br i1 %is_asleep, label %wake, label %following
wake:
  %error = call i32 @sem_post(ptr %posted)
  br label %following
following:
  %has_more = icmp slt i64 %i2, %count
  br i1 %has_more, label %post, label %own
own:
  call void @work(ptr %job, i64 0)
  br i1 %has_boxes, label %collect, label %end
collect:
  %j = phi i64 [ 0, %own ], [ %j2, %next ]
  %j2 = add i64 %j, 1
  %at2 = getelementptr ptr, ptr %boxes, i64 %j
  %box2 = load ptr, ptr %at2
  %finished = getelementptr i64, ptr %box2, i64 {_BOX.finished}
  %is_late = call i1 @exchange(ptr %box2, i64 1, i64 0)
  br i1 %is_late, label %next, label %look
look:
  %k = phi i64 [ 0, %collect ], [ %k2, %look2 ]
  %is_done = call i1 @is_done(ptr %box2)
  br i1 %is_done, label %free, label %look2
look2:
  {_PAUSE}
  %k2 = add i64 %k, 1
  %is_long = icmp sgt i64 %k2, %spins
  br i1 %is_long, label %sleep, label %look
sleep:
  %is_told = call i1 @exchange(ptr %box2, i64 2, i64 4)
  br i1 %is_told, label %await, label %free
await:
  %error3 = call i32 @sem_wait(ptr %finished)
  %is_interrupted = icmp ne i32 %error3, 0
  br i1 %is_interrupted, label %await, label %told
told:
  %is_done2 = call i1 @is_done(ptr %box2)
  br i1 %is_done2, label %free, label %await
free:
  %is_awake = call i1 @exchange(ptr %box2, i64 3, i64 0)
  br i1 %is_awake, label %next, label %free2
free2:
  %sleeps = call i1 @exchange(ptr %box2, i64 6, i64 5)
  br label %next
next:
  %has_more2 = icmp slt i64 %j2, %count
  br i1 %has_more2, label %collect, label %end
end:
  ret void
}}
"""


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
        self._function = function_at(address_of(_TEXT, "serve"))
        threading.Thread(target=self._serve, name=f"operad-team-{number}", daemon=True).start()

    def _serve(self) -> None:
        block_signals()
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

    def run(self, kernel: BoundKernel, count: int, width: int) -> None:
        """Compute all units of a kernel in `count` parts, in up to `width` threads."""
        scratch = np.empty((min(width, count), kernel.scratch_bytes + 63 & -64), np.uint8)
        self.divide(kernel.address, [kernel.table] * count, kernel.units, scratch)

    def divide(self, function: int, tables: Sequence[int], units: int, scratch: NDArray[Any]) -> None:
        """Call `function(table, first, last, scratch)` for as many parts of all units as there are tables.

        Args:
            function: The address of a kernel.
            tables: The address of each part's table.
            units: How many rows, columns or images the parts divide.
            scratch: For each thread that takes part a row, in one piece.
        """
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
                units=units, scratch=data_address(scratch), scratch_bytes=scratch.strides[0],
            )  # fmt: skip
            posted = (ctypes.c_longlong * len(boxes))(*[box.address for box in boxes])
            _post()(ctypes.addressof(job), len(boxes), _SPINS, ctypes.addressof(posted))
        finally:
            free.extend(boxes)  # of this process: a forked child has a list of its own


@cache
def _post() -> Callable[[int, int, int, int], None]:
    return function_at(address_of(_TEXT, NAME))


team: Final = _Team()
