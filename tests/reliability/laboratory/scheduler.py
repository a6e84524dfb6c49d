"""Threads that run one at a time, and switch where a schedule says so.

Every thread under control has a gate of its own, and only the thread whose gate is open runs. It runs on
until it would block, or until it comes to a point at which the schedule names another thread. So a
schedule is a short table, {point: thread}, the points counted from the start, and the same schedule gives the
same run.

Points lie where the interpreter itself may switch threads (`delivery` measures where that is: behind
calls and backward jumps, and at the entry of functions), in the files that are explored. The exploration
so covers what really can happen: in a stretch without a call no thread is ever switched.

Where a thread blocks, the next one in the row of those that can go on follows. To take another one is a
deviation, too, so that all that tells schedules apart is where they deviate. Time is virtual: it stands
still while any thread can go on, and when none can, it jumps to the first time-out. A schedule may also
let a wait time out early. Nothing to run and nothing to time out is a deadlock, which is known at once; so
is a wait that times out again and again while nothing else happens, and a thread that runs on for ever.

invariant: only the running thread touches the scheduler, so that needs no lock.
"""

from __future__ import annotations

import _thread
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from types import CodeType, FrameType
from typing import Any, Final, NoReturn, final

from tests.reliability.laboratory.points import is_private, points_of, shared_in

_start_thread: Final = _thread.start_new_thread

MAX_POINTS: Final = 30_000
"""Points after which a thread is taken to run for ever."""

_FAIR_POINTS: Final = 2_000
"""Points after which a thread that runs on, perhaps until another one does something, is switched."""

_MAX_JUMPS: Final = 5_000
_IDLE_S: Final = 5.0
_IDLE_JUMPS: Final = 50
"""Time-outs in a row, or both seconds and time-outs, after which nothing is taken to happen any more."""

_SLICE_S: Final = 0.1
"""A wait that is as long ends because nobody has ended it: the wake-up was lost, though not for good."""


@final
class Task:
    """A thread under control.

    Attributes:
        number: What schedules call it.
        waits_for: What it is blocked on; None while it can go on.
        deadline_s: When its wait times out, if it does.
    """

    __slots__ = ("bit", "deadline_s", "gate", "ident", "is_done", "is_woken", "name", "number", "waits_for")

    def __init__(self, number: int, name: str) -> None:
        self.number = number
        self.bit = 1 << number
        self.name = name
        self.gate = _thread.allocate_lock()
        self.gate.acquire()
        self.ident = 0
        self.is_done = False
        self.is_woken = False
        self.waits_for: object = None
        self.deadline_s: float | None = None

    def __str__(self) -> str:
        return f"thread {self.number} ({self.name})"

    @property
    def can_run(self) -> bool:
        return self.waits_for is None and not self.is_done


@final
class Scheduler:
    """Lets one of its threads at a time run.

    Args:
        schedule: By point, the number of the thread that is to go on there.
        folders: Where the code lies that has points.
        report: Called with a verdict and a text when the threads cannot go on; must not return.
        is_verbose: Whether to write down every switch.

    Attributes:
        masks: For each point passed, the threads that could have gone on instead, one bit each.
        now_s: The time.
        late: Waits that ended because a slice of time had passed, though nobody had to wait for time.
        switches: What happened, one line each.
    """

    def __init__(
        self,
        schedule: Mapping[int, int],
        folders: tuple[str, ...],
        report: Callable[[str, str], NoReturn],
        is_verbose: bool = False,
    ) -> None:
        self._schedule = dict(schedule)
        self._next = min(schedule, default=-1)
        self._folders = folders
        self._report = report
        self._is_verbose = is_verbose
        self.tasks: list[Task] = []
        self.masks = bytearray()
        self.now_s = 0.0
        self.late = 0
        self.switches: list[str] = []
        self._jumps = 0
        self._since_s = 0.0
        self._switched_at = 0
        self._traces: dict[CodeType, Any] = {}
        self.current = self._new_task("main")
        self.current.ident = _thread.get_ident()
        self._mask = 0
        self._are_points_on = False
        self._last = 0
        # Whether the thread has touched what others see since its last point, and before its last call.
        self._is_news = self._was_news = True

    # Threads.

    def _new_task(self, name: str) -> Task:
        task = Task(len(self.tasks), name)
        self.tasks.append(task)
        return task

    def start(self, function: Callable[[], object], name: str) -> Task:
        """A new thread under control; it runs when its turn comes."""
        task = self.adopt(name)
        once = [function]
        _start_thread(self.run, (task, lambda: once.pop()()))
        return task

    def adopt(self, name: str) -> Task:
        """Count in a thread that will call `run`."""
        task = self._new_task(name)
        self._renew_mask()
        return task

    def run(self, task: Task, function: Callable[[], object]) -> None:
        """Call `function` as `task`, in the calling thread, once that is its turn.

        What it refers to must die with it, and not when the system gets round to ending the thread.
        """
        task.gate.acquire()
        task.ident = _thread.get_ident()
        sys._getframe().f_trace_opcodes = True  # Python 3.12 looks at it when tracing begins, and only then
        sys.settrace(self._trace)
        try:
            function()
        finally:
            sys.settrace(None)
            task.is_done = True
            self.wake(task)
            following = self._following()
            self._go_on_with(following)

    def controls_caller(self) -> bool:
        """Whether the calling thread is the one that runs; others are none of the scheduler's."""
        return self.current.ident == _thread.get_ident()

    def explore(self) -> None:
        """Count points from now on."""
        self._are_points_on = True
        self._renew_mask()

    def rest(self) -> None:
        """Count no points any more."""
        self._are_points_on = False
        self._next = -1

    def stay_alone(self) -> None:
        """The calling thread is the only one left, as in a forked child."""
        for task in self.tasks:
            if task is not self.current:
                task.is_done = True
        self.rest()
        self._renew_mask()

    # Blocking.

    def wait(self, waits_for: object, timeout_s: float | None = None) -> bool:
        """Block until something wakes who waits for this; False if `timeout_s` passed before."""
        task = self.current
        task.waits_for = waits_for
        task.is_woken = False
        task.deadline_s = None if timeout_s is None else self.now_s + timeout_s
        following = self._following()
        if following is not task:
            self._go_on_with(following)
            task.gate.acquire()
        return task.is_woken

    def wake(self, waited_for: object) -> None:
        """Let every thread go on that waits for this."""
        waiting = [task for task in self.tasks if task.waits_for is waited_for]
        for task in waiting:
            self._resume(task, is_woken=True)
        if waiting:
            self._jumps = 0
            self._since_s = self.now_s
            self._renew_mask()

    @staticmethod
    def _resume(task: Task, is_woken: bool) -> None:
        task.waits_for = None
        task.deadline_s = None
        task.is_woken = is_woken

    def _following(self) -> Task:
        """Who goes on where the running thread cannot."""
        row = self._row()
        found = next((task for task in row if task.can_run), None)
        if found is None:
            found = self._earliest(row)
        self._renew_mask(apart_from=found)
        if self._are_points_on:
            named = self._at_point()
            if named is not None:
                found = named
        if found.waits_for is not None:
            self._let_time_out(found)
        return found

    def _row(self) -> list[Task]:
        """All threads, those behind the running one first, itself last."""
        behind = self.current.number + 1
        return [*self.tasks[behind:], *self.tasks[:behind]]

    def _earliest(self, row: Iterable[Task]) -> Task:
        timed = [task for task in row if task.deadline_s is not None and not task.is_done]
        if not timed:
            self._report("hang", f"no thread can go on\n{self.where()}")
        task = min(timed, key=lambda task: task.deadline_s or 0.0)
        if self._are_points_on and (task.deadline_s or 0.0) - self.now_s >= _SLICE_S:
            self.late += 1
        self._jumps += 1
        idle_s = (task.deadline_s or 0.0) - self._since_s
        if self._jumps > _MAX_JUMPS or (self._jumps > _IDLE_JUMPS and idle_s > _IDLE_S):
            self._report("hang", f"threads wait in slices for what never happens\n{self.where()}")
        return task

    def _let_time_out(self, task: Task) -> None:
        self.now_s = max(self.now_s, task.deadline_s or 0.0)
        self._resume(task, is_woken=False)

    def _go_on_with(self, task: Task) -> None:
        self._say(len(self.masks), task, "goes on")
        self.current = task
        self._switched_at = len(self.masks)
        self._is_news = self._was_news = True
        self._renew_mask()
        task.gate.release()

    def _renew_mask(self, apart_from: Task | None = None) -> None:
        """Who could go on here instead: who is not blocked, and whose wait may time out."""
        if apart_from is None:
            apart_from = self.current
        self._mask = sum(
            task.bit
            for task in self.tasks
            if task is not apart_from and not task.is_done
            and (task.waits_for is None or task.deadline_s is not None)
        )  # fmt: skip

    # Points.

    def _at_point(self) -> Task | None:
        """Count a point; the thread that the schedule names there."""
        number = len(self.masks)
        self.masks.append(self._mask)
        if number != self._next:
            if number > MAX_POINTS:
                self._report("hang", f"a thread runs on for ever\n{self.where()}")
            return None
        thread = self._schedule.pop(number)
        if not self._mask >> thread & 1:
            self._report("unsteady", f"thread {thread} cannot go on at point {number}")
        named = self.tasks[thread]
        self._next = min(self._schedule, default=-1)
        return named

    def _trace(self, frame: FrameType, event: str, _: object) -> Any:
        code = frame.f_code
        try:
            made = self._traces[code]
        except KeyError:
            made = self._traces[code] = self._new_trace(frame)
        if made is not None:
            self._is_news = self._was_news  # the call has only entered a function
            frame.f_trace = made  # Python 3.13 asks for it when the next line is set, and only then
            frame.f_trace_opcodes = True
            frame.f_trace_lines = False
        return made

    def _new_trace(self, frame: FrameType) -> Any:
        """What is called at every instruction of the code of `frame`; None if it has no points."""
        code = frame.f_code
        if not code.co_filename.startswith(self._folders) or is_private(code):
            return None
        (points, targets), shared = points_of(code), shared_in(code, frame.f_globals)

        def trace(frame: FrameType, event: str, _: object) -> Any:
            if event == "opcode":
                offset = frame.f_lasti
                # Behind a jump backwards the instruction before had the larger offset.
                if self._is_news and (offset in points or (offset in targets and self._last > offset)):
                    self._reach(frame)
                self._last = offset
                self._was_news = self._is_news
                if offset in shared:
                    self._is_news = True
            return trace

        return trace

    def _reach(self, frame: FrameType) -> None:
        if not self._are_points_on:
            return
        self._is_news = self._was_news = False
        named = self._at_point()
        if named is None and len(self.masks) - self._switched_at > _FAIR_POINTS:
            named = next((task for task in self._row() if task.can_run and task is not self.current), None)
        if named is not None:
            self._preempt(frame, named)

    def _preempt(self, frame: FrameType, other: Task) -> None:
        task = self.current
        self._say(len(self.masks) - 1, task, f"stops at {at(frame)}")
        if other.waits_for is not None:
            self._let_time_out(other)
        self._go_on_with(other)
        task.gate.acquire()

    def _say(self, point: int, task: Task, what: str) -> None:
        if self._is_verbose:
            self.switches.append(f"{point:>6}  {task} {what}")

    def where(self) -> str:
        """Where every thread is."""
        frames = sys._current_frames()
        lines = []
        for task in self.tasks:
            if task.is_done or not task.number:
                continue
            lines.append(f"{task}, {'blocked' if task.waits_for else 'able to run'}:")
            frame = frames.get(task.ident)
            stack = []
            while frame is not None:
                if frame.f_code.co_filename not in _OURS:
                    stack.append(f"    {at(frame)}")
                frame = frame.f_back
            lines += stack[:12]
        return "\n".join(lines)


_OURS: Final = frozenset(
    os.path.join(os.path.dirname(__file__), name)
    for name in ("scheduler.py", "primitives.py", "schedules.py")
)


def at(frame: FrameType) -> str:
    """`file:line, in function`."""
    code = frame.f_code
    return f"{os.path.relpath(code.co_filename)}:{frame.f_lineno}, in {code.co_name}"
