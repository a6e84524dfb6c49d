"""What is interrupted, and what has to hold afterwards.

A subject does one thing that a program does, in `act`. It may be left anywhere by an error from outside: an
exception of a signal's handler, a failed allocation, an exhausted stack. Then `check` tells whether what it
did is done or not done, never half; what was pushed before has run; and everything that has a value has the
right one.
"""

from __future__ import annotations

import gc
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

import numpy as np

import operad as od
from operad import autograd, nd
from operad import engine as engines
from operad.engine import nested
from operad.engine.thread import NESTED, OUTSIDE, local
from operad.errors import EngineError, InterruptedOperationError
from operad.operator import is_np_shape, np_shape
from operad.program.program import collector_paused
from tests.reliability.laboratory.trials import BROKEN, LOST, WRONG, Fault

CTX: Final = od.cpu()
_PATIENCE: Final = 2_000
"""Looks, a tenth of a millisecond apart, at whether a worker that has done its work has gone to rest."""


def require(condition: object, text: str, kind: str = WRONG) -> None:
    """A fault where the condition does not hold."""
    if not condition:
        raise Fault(kind, text)


def check_at_rest() -> None:
    """Waits return and raise nothing, pushes and inline runs work, nothing is counted as pending."""
    engine = engines.get()
    engine.wait_for_all()
    ran: list[object] = []
    var = engine.new_variable()
    engine.push_sync(ran.append, CTX, (), (var,))
    require(_comes(lambda: ran), "what is pushed runs only once a thread waits for it", BROKEN)
    engine.wait_for_var(var)
    require(len(ran) == 1, f"a push ran {len(ran)} times")
    runs_inline = _comes(lambda: engine.run_inline(ran.append, (2,), CTX, (), (var,), None))
    require(runs_inline, "nothing runs inline any more: the lock is not free, or something blocks", BROKEN)
    pending = engine._queue.pending
    require(pending == 0, f"{pending} operations are pending after all were waited for")
    with_mode = autograd.is_recording(), autograd.is_training()
    require(
        with_mode == (False, False), f"recording and training are {with_mode} outside of any scope", BROKEN
    )


def _comes(condition: Callable[[], object]) -> bool:
    """Whether a condition holds now or in a while; other threads run meanwhile, and nothing is healed."""
    for _ in range(_PATIENCE):
        if condition():
            return True
        time.sleep(1e-4)
    return False


def caused_by(error: BaseException | None, cause: BaseException | None) -> bool:
    """Whether `error` is `cause` or of its class, or was raised because of such.

    That an operation was interrupted is always because of what came from outside.
    """
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        if cause is not None and isinstance(error, type(cause) | InterruptedOperationError):
            return True
        seen.add(id(error))
        error = error.__cause__ or error.__context__
    return False


def value(array: Any, hit: BaseException | None) -> np.ndarray[Any, Any] | None:
    """The array's value; None where it has none because of `hit`."""
    try:
        return np.array(array.asnumpy())
    except BaseException as error:
        if hit is None or not caused_by(error, hit):
            raise
        return None


def require_one_of(found: np.ndarray[Any, Any] | None, *wanted: np.ndarray[Any, Any], what: str) -> None:
    """A value is one of those wanted, or there is none."""
    if found is not None:
        require(any(np.allclose(found, one, 1e-5, 1e-6) for one in wanted), f"{what} is {found.ravel()[:6]}")


class Subject:
    """One thing that a program does."""

    def act(self) -> None:
        """What is interrupted."""
        raise NotImplementedError

    def check(self, hit: BaseException | None) -> None:
        """Raise `Fault` where something is wrong after `hit`; None: after an `act` that was left alone."""

    def settle(self, kinds: tuple[type[BaseException], ...]) -> BaseException | None:
        """Have the failures of operations raised that an error of these classes hit; the last of them."""
        try:
            engines.get().wait_for_all()
        except BaseException as error:  # noqa: BLE001 - judged here
            errors = error.exceptions if isinstance(error, BaseExceptionGroup) else (error,)
            found = [one for one in errors if not self.is_own(one)]
            if not all(any(caused_by(one, kind()) for kind in kinds) for one in found):
                raise Fault(BROKEN, traced(error)) from None
            return found[-1] if found else None
        return None

    def is_own(self, _: BaseException) -> bool:
        """Whether an error is what the subject's own operation raises."""
        return False


class Push(Subject):
    """A push to a variable that is idle, as a rule."""

    def __init__(self) -> None:
        self.engine = engines.get()
        self.var = self.engine.new_variable()
        self.ran: list[object] = []
        self.begun = self.done = 0

    def operation(self, run_ctx: object) -> None:
        """What is pushed."""
        self.ran.append(run_ctx)

    def push(self) -> None:
        """Push it, without a Python function that could be interrupted."""
        self.engine.push_sync(self.ran.append, CTX, (), (self.var,))

    def act(self) -> None:
        self.begun += 1
        self.work()
        self.done += 1

    def work(self) -> None:
        """What is interrupted, which pushes once what counts."""
        self.push()

    def check(self, hit: BaseException | None) -> None:
        self.engine.wait_for_all()
        try:
            self.engine.wait_for_var(self.var)
        except BaseException as error:
            if not caused_by(error, hit):
                raise
        ran = len(self.ran)
        failed = isinstance(hit, Exception)  # then the operation may have failed instead of the push
        require(
            self.done - failed <= ran <= self.begun,
            f"{ran} operations ran, of {self.done} pushed and {self.begun - self.done} interrupted",
        )
        self.ran.clear()
        self.begun = self.done = 0
        self.push()
        self.engine.wait_for_var(self.var)
        require(len(self.ran) == 1, f"the push after it ran {len(self.ran)} times")
        self.ran.clear()


class PushAndWait(Push):
    """A push and a wait for it; the operation is a Python function, which may be interrupted itself."""

    def work(self) -> None:
        self.engine.push_sync(self.operation, CTX, (), (self.var,))
        self.engine.wait_for_var(self.var)


class PushMany(Push):
    """Ten pushes in a chain and a wait for all; each runs once, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.pushed = 0
        self.order: list[int] = []

    def act(self) -> None:
        for _ in range(10):
            number = self.pushed + 1
            self.engine.push_sync(lambda _, number=number: self.order.append(number), CTX, (), (self.var,))
            self.pushed = number
        self.engine.wait_for_all()

    def check(self, hit: BaseException | None) -> None:
        self.engine.wait_for_all()
        try:
            self.engine.wait_for_var(self.var)
        except BaseException as error:
            if not caused_by(error, hit):
                raise
        done = self.order
        require(done == sorted(set(done)), f"pushes ran as {done}")
        missing = set(range(1, self.pushed + 1)) - set(done)
        require(len(missing) <= (hit is not None), f"pushes {missing} of {self.pushed} did not run")
        require(len(done) <= self.pushed + 1, f"{len(done)} of {self.pushed} pushes ran")
        self.order.clear()
        self.pushed = 0
        super().check(hit)


class PushBehind(Push):
    """Pushes that read and write what a pending operation holds, and its completion."""

    def work(self) -> None:
        engine, held = self.engine, self.held
        engine.push_async(lambda _, done: held.append(done), CTX, (), (self.var,))
        engine.push_sync(self.ran.append, CTX, (self.var,), (self.other,))
        held.complete()
        engine.wait_for_var(self.other)

    def __init__(self) -> None:
        super().__init__()
        self.other = self.engine.new_variable()
        self.held = self.completions()

    def completions(self) -> _Completions:
        """Those of the next time; on the naive engine a push returns when its operation is completed."""
        return _Completions(is_closed=isinstance(self.engine, engines.NaiveEngine))

    def settle(self, kinds: tuple[type[BaseException], ...]) -> BaseException | None:
        self.held.close()
        return super().settle(kinds)

    def check(self, hit: BaseException | None) -> None:
        self.held.close()
        self.held = self.completions()
        super().check(hit)


class _Completions:
    """Completions that operations in other threads hand over."""

    def __init__(self, is_closed: bool) -> None:
        self._found: list[Callable[[], object]] = []
        self._is_closed = is_closed

    def append(self, done: Callable[[], object]) -> None:
        self._found.append(done)
        if self._is_closed:
            self.close()

    def complete(self) -> None:
        """Complete the first one, which another thread may still have to bring, unless it failed to."""
        if not self._is_closed and _comes(lambda: self._found):
            self._found[0]()
            del self._found[0]

    def close(self) -> None:
        """Complete what was brought and what will be."""
        self._is_closed = True
        for done in tuple(self._found):
            with suppress(EngineError):  # it was completed before
                done()


class Inline(Push):
    """A run in the calling thread."""

    def work(self) -> None:
        if not self.engine.run_inline(self.operation, (0,), CTX, (), (self.var,), None):
            self.push()


class Delete(Push):
    """A variable that is made, written and deleted."""

    def work(self) -> None:
        var = self.engine.new_variable()
        self.engine.push_sync(self.ran.append, CTX, (self.var,), (var,))
        self.engine.delete_variable(lambda _: None, CTX, var)


class Bulk(Push):
    """Pushes inside a bulk scope."""

    def work(self) -> None:
        with self.engine.bulk(3):
            self.push()
            self.engine.push_sync(id, CTX, (self.var,), (self.engine.new_variable(),))
        self.engine.wait_for_var(self.var)


class WaitForFailure(Subject):
    """A wait that raises an operation's own failure, which must come out of a wait once."""

    def __init__(self) -> None:
        self.engine = engines.get()

    @staticmethod
    def fail(_: object) -> None:
        """The operation."""
        raise ValueError("the operation's own")

    def act(self) -> None:
        self.raised: list[BaseException] = []
        self.var = self.engine.new_variable()
        self.engine.push_sync(self.fail, CTX, (), (self.var,))
        self.is_pushed = True
        try:
            self.engine.wait_for_var(self.var)
        except ValueError as error:
            self.raised.append(error)

    def is_own(self, error: BaseException) -> bool:
        if isinstance(error, ValueError):
            self.raised.append(error)
        return isinstance(error, ValueError)

    def check(self, hit: BaseException | None) -> None:
        try:
            self.engine.wait_for_all()
        except ValueError as error:
            self.raised.append(error)
        if hit is not None and _holds(hit, ValueError):
            self.raised.append(hit)
        require(self.raised or hit is not None, "the operation's failure was never raised", LOST)


def _holds(error: BaseException | None, kind: type[BaseException]) -> bool:
    while error is not None:
        if isinstance(error, kind):
            return True
        error = error.__cause__ or error.__context__
    return False


ONES: Final = np.ones((8, 8), "float32")


class Arrays(Subject):
    """Calls on small arrays, which run in the calling thread where the settings allow that."""

    def __init__(self) -> None:
        self.x = nd.array(ONES * 0.5)
        self.y = nd.array(ONES * 2.0)
        self.out = nd.array(ONES * 3.0)
        nd.waitall()

    def check(self, hit: BaseException | None) -> None:
        require_one_of(self.x.asnumpy(), ONES * 0.5, what="an input")
        require_one_of(self.y.asnumpy(), ONES * 2.0, what="an input")
        require_one_of(nd.tanh(self.x).asnumpy(), np.tanh(ONES * 0.5), what="tanh")
        require_one_of((self.x + self.y).asnumpy(), ONES * 2.5, what="a sum")


class Tanh(Arrays):
    """The shortest call."""

    def act(self) -> None:
        nd.tanh(self.x)


class Add(Arrays):
    """An operator of Python, into a given array."""

    def act(self) -> None:
        nd.elemwise_add(self.x, self.y, out=self.out)

    def check(self, hit: BaseException | None) -> None:
        require_one_of(value(self.out, hit), ONES * 3.0, ONES * 2.5, what="the output")
        self.out[:] = 3.0
        require_one_of(self.out.asnumpy(), ONES * 3.0, what="the output")
        super().check(hit)


class Dot(Arrays):
    """A call that runs in the calling thread with its variables claimed, and a read."""

    def act(self) -> None:
        self.product = nd.dot(self.x, self.y).asnumpy()

    def check(self, hit: BaseException | None) -> None:
        super().check(hit)
        if hit is None:
            require_one_of(self.product, ONES * 8.0, what="a product")


class Write(Arrays):
    """Writes into an array, whole and in part, and a read."""

    def act(self) -> None:
        self.out[:] = 4.0
        self.out[2:4] = 5.0
        self.out.wait_to_read()

    def check(self, hit: BaseException | None) -> None:
        found = value(self.out, hit)
        require(found is None or set(found.ravel()) <= {3.0, 4.0, 5.0}, f"what was written is {found}")
        self.out[:] = 3.0
        require_one_of(self.out.asnumpy(), ONES * 3.0, what="the output")
        super().check(hit)


class Recycle(Arrays):
    """Arrays of all sizes that come and go."""

    def act(self) -> None:
        for shape in ((3,), (40, 40), (90, 90)):
            made = nd.ones(shape)
            again = made + made
            del made, again


class Update(Arrays):
    """A step of an optimizer: weight and momentum change together, or not at all."""

    def __init__(self) -> None:
        super().__init__()
        # In float64, since the weight is exact after as many steps as a loop makes before a signal comes.
        self.weight, self.step = nd.array(ONES, dtype="float64"), nd.array(ONES * 2.0, dtype="float64")
        self.momentum = nd.zeros((8, 8), dtype="float64")

    def act(self) -> None:
        nd.sgd_mom_update(self.weight, self.step, self.momentum, lr=0.5, momentum=1.0, out=self.weight)

    def check(self, hit: BaseException | None) -> None:
        weight, momentum = value(self.weight, hit), value(self.momentum, hit)
        if weight is not None and momentum is not None:
            steps = -momentum[0, 0]  # each makes the momentum less by one
            wanted = 1.0 - steps * (steps + 1.0) / 2.0
            require((weight == wanted).all(), f"after {steps} steps a weight is {weight[0, 0]}, not {wanted}")
        self.weight[:] = 1.0
        self.momentum[:] = 0.0
        super().check(hit)


class Record(Arrays):
    """A recorded step and its gradient; what is saved for backward is given back."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nd.array(ONES)
        self.weight.attach_grad()

    def act(self) -> None:
        with autograd.record():
            hidden = nd.tanh(nd.dot(self.x, self.weight))
            loss = nd.sum(hidden * hidden)
        loss.backward()

    def check(self, hit: BaseException | None) -> None:
        hidden = np.tanh(ONES * 4.0)
        wanted = 8 * 0.5 * 2 * hidden * (1 - hidden**2)
        if hit is None:
            require_one_of(self.weight.grad.asnumpy(), wanted, what="a gradient")
        else:
            value(self.weight.grad, hit)
        super().check(hit)


class Scopes(Subject):
    """Scopes inside others; what they switched on is off again, wherever they are left."""

    def act(self) -> None:
        with autograd.record(), od.cpu(1), od.AttrScope(ctx_group="a"), od.name.Prefix("p"):
            self.inner = self._now()
            with autograd.pause(train_mode=True), od.cpu(2), nested():
                self.innermost = self._now()
                with engines.bulk(5), np_shape(), collector_paused():
                    self.others = self._others()

    @staticmethod
    def _now() -> tuple[object, ...]:
        group = od.AttrScope.current.get(None).get("__ctx_group__")
        name = od.name.NameManager.current.get("x", "hint")
        return local.state.mode, od.current_context(), group, name, local.state.inside

    @staticmethod
    def _others() -> tuple[object, ...]:
        return local.state.bulk_size, is_np_shape(), gc.isenabled()

    def check(self, hit: BaseException | None) -> None:
        require(self._now() == (0, od.cpu(0), None, "x", OUTSIDE), f"outside of all it is {self._now()}")
        require(self._others() == (0, False, True), f"outside of all it is {self._others()}")
        if hit is None:
            require(self.inner == (3, od.cpu(1), "a", "px", OUTSIDE), f"inside it is {self.inner}")
            wanted = (1, od.cpu(2), "a", "px", NESTED)
            require(self.innermost == wanted, f"inside all it is {self.innermost}")
            require(self.others == (5, True, False), f"inside all it is {self.others}")


class Step(Subject):
    """An executor's step."""

    def __init__(self) -> None:
        rng = np.random.RandomState(0)
        net = od.sym.FullyConnected(od.sym.var("data"), num_hidden=6, name="fc0")
        net = od.sym.FullyConnected(od.sym.tanh(net), num_hidden=4, name="fc1")
        net = od.sym.SoftmaxOutput(net, name="softmax")
        self.executor = net.simple_bind(CTX, data=(5, 7))
        for name, array in self.executor.arg_dict.items():
            array[:] = rng.standard_normal(array.shape) if name != "softmax_label" else np.arange(5) % 4
        self.step()
        self.wanted = self.results()

    def step(self) -> None:
        """Forward, backward and a read."""
        self.executor.forward(is_train=True)
        self.executor.backward()
        self.executor.outputs[0].wait_to_read()

    def act(self) -> None:
        self.step()

    def results(self) -> list[np.ndarray[Any, Any]]:
        """Outputs and gradients."""
        arrays = [*self.executor.outputs, *self.executor.grad_dict.values()]
        return [np.array(array.asnumpy()) for array in arrays if array is not None]

    def check(self, hit: BaseException | None) -> None:
        if hit is not None:
            self.step()
        found = self.results()
        same = [np.array_equal(one, two) for one, two in zip(found, self.wanted, strict=True)]
        require(all(same), f"outputs and gradients are right: {same}")


class Save(Subject):
    """A recorded call whose operator saves something for its gradient, which is never asked for."""

    def __init__(self) -> None:
        self.x = nd.array(ONES * 0.5)
        self.x.attach_grad()

    def act(self) -> None:
        with autograd.record():
            nd.Dropout(nd.softmax(self.x), p=0.5)

    def check(self, hit: BaseException | None) -> None:
        require_one_of(self.x.asnumpy(), ONES * 0.5, what="an input")
        with autograd.record():
            y = nd.softmax(self.x)
        y.backward()
        require_one_of(self.x.grad.asnumpy(), ONES * 0.0, what="the gradient of a row that sums to 1")


SUBJECTS: Final[dict[str, type[Subject]]] = {
    "push": Push,
    "push-wait": PushAndWait,
    "push-many": PushMany,
    "push-behind": PushBehind,
    "inline": Inline,
    "delete": Delete,
    "bulk": Bulk,
    "failure": WaitForFailure,
    "tanh": Tanh,
    "add": Add,
    "dot": Dot,
    "write": Write,
    "recycle": Recycle,
    "update": Update,
    "record": Record,
    "save": Save,
    "scopes": Scopes,
    "step": Step,
}
ARRAYS: Final = [name for name, subject in SUBJECTS.items() if not issubclass(subject, Push)]
"""Subjects whose operations run inline or are pushed, as the settings say."""


class Unraisable:
    """Errors that Python could raise nowhere ("Exception ignored in ..."), while this is installed."""

    def __init__(self) -> None:
        self._found: list[str] = []
        sys.unraisablehook = self._note

    def _note(self, unraisable: Any) -> None:
        self._found.append(f"{unraisable.err_msg or 'Exception ignored in'} {unraisable.object!r}: "
                           f"{unraisable.exc_value!r}")  # fmt: skip

    def take(self) -> list[str]:
        """Those since the last time."""
        found, self._found = self._found, []
        return found


def judge(subject: Subject, hit: BaseException | None, kind: type[BaseException]) -> None:
    """Check a subject and the engine after `hit`, and once more after an `act` that is left alone."""
    try:
        subject.check(hit)
        check_at_rest()
        subject.act()
        subject.check(None)
        check_at_rest()
    except Fault:
        raise
    except kind as error:
        raise Fault(LOST, f"it came out once more, of something else:\n{traced(error)}") from None
    except BaseException as error:  # noqa: BLE001 - what is raised is the verdict
        raise Fault(BROKEN, traced(error)) from None


def traced(error: BaseException) -> str:
    """An error with its traceback."""
    return "".join(traceback.format_exception(error))
