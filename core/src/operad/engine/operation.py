"""Operations of the engine: an `Opr` (a function and the variables it names) and its pushes.

An `Opr` is validated once and may be pushed any number of times; each push makes one `OprBlock`,
which carries what belongs to that push alone: progress, priority, place in the push order.
"""

from __future__ import annotations

import enum
import weakref
from collections.abc import Callable, Collection, Iterable, Sequence
from operator import index
from typing import TYPE_CHECKING, Any, Final, final

from operad.device import Context, cpu
from operad.engine.lock import Request
from operad.errors import DuplicateVarError, EngineError

if TYPE_CHECKING:
    from operad.engine.budget import ThreadBudget
    from operad.engine.failure import Failure, Site
    from operad.engine.thread import ThreadState
    from operad.engine.var import Var


class FnProperty(enum.Enum):
    """Kind of work that a function does; it decides which worker of a device runs it, never the order.

    Source: FnProperty, include/mxnet/engine.h. Differs: on a CPU, priorities alone order what is ready.
    """

    NORMAL = "normal"
    COPY_FROM_DEVICE = "copy_from_device"
    COPY_TO_DEVICE = "copy_to_device"
    ASYNC = "async"


@final
class RunContext:
    """Device and stream of a function, made by the engine at run time.

    Attributes:
        ctx: The device.
        stream: The CUDA stream that the function launches on; None on a CPU.
        is_running: Whether the budget's threads are shared with it: a worker's, while its function runs.
        is_worth: Whether what the function does now is worth several threads; else it is told of one.
    """

    __slots__ = ("_budget", "ctx", "is_running", "is_worth", "stream")

    def __init__(self, ctx: Context, stream: Any = None, budget: ThreadBudget | None = None) -> None:
        self.ctx = ctx
        self.stream = stream
        self.is_running = self.is_worth = True
        self._budget = budget

    @property
    def num_threads(self) -> int:
        """This operation's share of the thread budget.

        It falls and rises while the function runs, as other operations start and finish: read it when a
        parallel region starts, not once for the whole function.
        """
        return 1 if self._budget is None else self._budget.share


_CPU: Final = cpu()
_ASYNC: Final = FnProperty.ASYNC
"""Looked up by its name, a member of an enumeration costs as much as a call."""

OnComplete = Callable[..., None]
SyncFn = Callable[[RunContext], object]
AsyncFn = Callable[[RunContext, OnComplete], object]


# Kinds of blocks: how the dependency queue treats them. Plain numbers, for the hot path. The function of
# a WAIT is called under the lock when its turn has come, with the failure of its one variable, or None.
RUN, CLAIM, WAIT, DELETE = range(4)

# How far a block has come: TAKEN by a thread that is about to call its function, LEAVING while it gives its
# variables back. It is changed in commits alone, see `lock`.
NEW, OFFERED, TAKEN, CALLED, RAN, LEAVING, DONE = range(7)


@final
class Opr:
    """A function with the variables it reads and mutates; treat it as opaque.

    Args:
        fn: Called with a `RunContext`, and with `on_complete` too where `prop` is ASYNC.
        const_vars: Variables that `fn` reads.
        mutable_vars: Variables that `fn` mutates, whether or not it reads them as well.
        prop: The kind of work.
        name: What messages call it.
        reads_mutable: `fn` uses old contents of all `mutable_vars`, or of those given (in-place update,
            partial write, ADD request), so it is skipped where one of them holds a failure. The
            others it is taken to overwrite, which makes them clean again.
        is_async: `fn` takes `on_complete`; implied by `prop=ASYNC`.
        is_parallel: Whether `fn` is worth several threads inside.
        kind: RUN, except for the engine's own blocks.

    Raises:
        DuplicateVarError: A variable is named twice.
        EngineError: `fn` cannot be called, `prop` is no property, or a list holds something else than
            variables.
    """

    __slots__ = (
        "const_vars", "deleted", "fn", "is_async", "is_parallel", "kind", "mutable_vars", "name", "prop",
        "updated_vars",
    )  # fmt: skip

    def __init__(
        self,
        fn: Callable[..., object],
        const_vars: Sequence[Var] = (),
        mutable_vars: Sequence[Var] = (),
        prop: FnProperty = FnProperty.NORMAL,
        name: str | None = None,
        reads_mutable: bool | Collection[Var] = False,
        is_async: bool = False,
        kind: int = RUN,
        is_parallel: bool = True,
    ) -> None:
        self.fn = fn
        self.is_parallel = is_parallel
        self.name = name
        try:
            self.const_vars = tuple(const_vars)
            self.mutable_vars = tuple(mutable_vars)
            self.updated_vars: tuple[Var, ...] = ()
            if reads_mutable:
                self.updated_vars = self.mutable_vars if reads_mutable is True else tuple(reads_mutable)
            for var in self.const_vars:
                var.holders  # noqa: B018 - what has none is no variable
            for var in self.mutable_vars:
                var.holders  # noqa: B018
        except (TypeError, AttributeError) as error:
            old = () if isinstance(reads_mutable, bool) else reads_mutable
            given: dict[str, object] = {"const_vars": const_vars, "mutable_vars": mutable_vars}
            raise self._misuse({**given, "reads_mutable": old}) from error
        if not callable(fn):
            raise EngineError(f"push of {self.title!r}: fn is {fn!r}, expected a function")
        if prop.__class__ is not FnProperty:
            raise EngineError(f"push of {self.title!r}: prop is {prop!r}, expected an FnProperty")
        self.prop = prop
        self.kind = kind
        self.is_async = is_async or prop is _ASYNC
        self.deleted = False
        count = len(self.const_vars) + len(self.mutable_vars)
        if count > 1 and len({*self.const_vars, *self.mutable_vars}) != count:
            self._refuse_duplicate()

    def _misuse(self, given: dict[str, object]) -> EngineError:
        """The error of a list that is none, or that holds something else than variables."""
        for where, listed in given.items():
            if not isinstance(listed, Iterable):
                return EngineError(f"push of {self.title!r}: {where} is {listed!r}, expected variables")
            for var in listed:
                if not hasattr(var, "holders"):
                    return EngineError(
                        f"push of {self.title!r}: {where} has {var!r}, expected variables; "
                        "make one with new_variable()"
                    )
        return EngineError(
            f"push of {self.title!r}: its lists of variables can be read only once or not at all"
        )

    def _refuse_duplicate(self) -> None:
        for listed, where in ((self.const_vars, "const_vars"), (self.mutable_vars, "mutable_vars")):
            for var in listed:
                if listed.count(var) > 1:
                    raise DuplicateVarError(
                        f"push of {self.title!r}: {var!r} is in {where} twice; list it once"
                    )
        both = next(var for var in self.const_vars if var in self.mutable_vars)
        raise DuplicateVarError(
            f"push of {self.title!r}: {both!r} is in both const_vars and mutable_vars; "
            "list a variable you read and write under mutable_vars only"
        )

    def after_deletion_of(self, var: Var) -> EngineError:
        """The error of a push that names a deleted variable."""
        return EngineError(f"push of {self.title!r}: {var!r} was deleted; use a new variable")

    @property
    def title(self) -> str:
        """The name, or the function's own where none was given."""
        return self.name or getattr(self.fn, "__qualname__", None) or "operation"


class OprBlock(Request):
    """One push of an `Opr`: a request to enter it, and later to take it back.

    Attributes:
        seq: Position in the push order; every block of an engine has its own. 0 before it is entered.
        order: Minus the priority.
        is_gpu: Whether `ctx` is a GPU.
        size_bytes: Memory that the push keeps in use until it is done.
        state: How far it has come, from NEW to DONE.
        position: Variables that it was granted or waits for.
        waiting: Those it waits for; the block is ready at 0.
        given: Variables it has given back, while it is LEAVING.
        error: What its function raised, once it was CALLED, and then the `Failure` made of that.
        has_caller: Whether a call of the program runs it, out of which an exception from outside comes.
        site: Where it was pushed, for messages.

    Raises:
        EngineError: The context or the priority is none. Found here, before any queue holds the block.
    """

    __slots__ = (
        "ctx", "error", "given", "has_caller", "is_gpu", "opr", "order", "position", "profiling", "seq",
        "site", "size_bytes", "state", "waiting",
    )  # fmt: skip

    def __init__(
        self, opr: Opr, ctx: Context, priority: int = 0, profiling: bool = False, size_bytes: int = 0
    ) -> None:
        self.opr = opr
        self.size_bytes = size_bytes
        self.ctx = ctx
        try:
            self.is_gpu = ctx.device_type == "gpu"
            self.order = -index(priority)
        except (AttributeError, TypeError) as error:
            raise EngineError(
                f"push of {opr.title!r}: ctx is {ctx!r} and priority {priority!r}, "
                "expected a Context and an integer"
            ) from error
        self.profiling = profiling
        self.has_caller = False
        self.next = None
        self.seq = self.state = 0
        self.position: int
        self.waiting: int
        self.given: int
        self.error: BaseException | Failure | None = None
        self.site: Site | None = None


claims: Final[set[weakref.ref[Claim]]] = set()
"""The claims of all threads."""


@final
class Claim(OprBlock):
    """Claim by which an inline function holds its variables; a thread keeps one, and uses it again.

    Args:
        thread: Whose it is.
    """

    __slots__ = ("__weakref__", "thread")

    def __init__(self, thread: ThreadState) -> None:
        super().__init__(Opr(int, kind=CLAIM), _CPU)
        self.state = DONE
        self.has_caller = True
        self.thread = thread
        claims.add(weakref.ref(self, claims.discard))  # a function of C, in which no exception is lost
