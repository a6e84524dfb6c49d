"""Every error operad raises on purpose.

One tree under `OperadError`; each class also derives from the builtin it refines, so that code
written against NumPy's or Python's manners catches it too. A message says what was attempted, on
which named thing, what was expected, what was found, and the next step.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Final, TypeVar

from operad.interrupts import raise_of_handler


class OperadError(RuntimeError):
    """Root of every error that operad and its plugins raise; a RuntimeError, as MXNet's `MXNetError` is.

    Attributes:
        raised: Where something else failed (NumPy, the operating system, an operator): the class of that
            error, which this is an instance of as well; else None.
    """

    raised: ClassVar[type[Exception] | None] = None

    def __reduce__(self) -> str | tuple[Any, ...]:
        """For pickling: classes made at run time cannot be found by name."""
        if self.raised is None:
            return super().__reduce__()
        ours = type(self).__mro__[1]
        return _remade, (ours, self.raised, self.args, vars(self))


class ConfigError(OperadError, ValueError):
    """An `OPERAD_*` setting is unknown or has a value that cannot be used."""


class ContextError(OperadError):
    """A device context is unknown, absent, or does not match."""


class ShapeError(OperadError, ValueError):
    """Shapes are inconsistent, incomplete where they must be complete, or out of range."""


class DTypeError(OperadError, TypeError):
    """An element type is unknown, inconsistent or unsupported."""


class ParamError(OperadError, ValueError):
    """An operator parameter is missing, unknown, of the wrong type or out of bounds."""


class ArgumentError(OperadError, TypeError):
    """A call has too many, too few or wrongly named tensor arguments."""


class UnknownParameterError(ArgumentError, ValueError):
    """Values were given for a name that an executor does not have."""


class IndexOutOfRangeError(OperadError, IndexError):
    """An index lies outside an array's axis, or an array has no such axis."""


class UnsupportedError(OperadError, NotImplementedError):  # as MXNet's programs expect to catch
    """Something of this kind cannot do what was asked, or a subclass does not define what it must."""


class FormatError(OperadError, ValueError):
    """A file or byte string does not follow the format it claims."""


class LimitError(FormatError):
    """A file asks for more bytes, pixels, seconds or entries than a setting allows; the message names it."""


class GraphError(OperadError, ValueError):
    """A graph or symbol is malformed: a cycle, a duplicate or unknown name, a wrong entry."""


class TraceError(OperadError, TypeError):
    """A function that is traced does what a graph, or a derivative, cannot say; the message says what to do.

    Attributes:
        line: File and number of the author's line that did it, where a step of the trace is what is refused.
    """

    line: tuple[str, int] | None = None


class GradientError(OperadError):
    """A gradient was asked for where none exists, or before it can be computed."""


class BindError(OperadError, ValueError):
    """Arrays handed to an executor do not fit the graph it runs."""


class ExecutorBusyError(BindError):
    """An executor was entered by a thread while another one was inside; each thread binds its own."""


class EngineError(OperadError):
    """The engine cannot do what was asked."""


class DuplicateVarError(OperadError, ValueError):
    """A variable is named twice in one operation's dependency lists."""


class BlockingInOperatorError(EngineError):
    """An operator waited for the engine that is running it, which would deadlock."""


class InterruptedOperationError(EngineError):
    """An exception from outside (Ctrl-C, a handler of a signal) ended an operation half-way.

    The exception itself came out of the call that it interrupted. This one says at later waits why what the
    operation writes has no value.
    """


class EngineStoppedError(EngineError):
    """Work was pushed to an engine after `stop`."""


class OperatorError(OperadError):
    """An operation failed. What is raised is also an instance of the class that the operation raised.

    So both `except OperadError` and, say, `except numpy.linalg.LinAlgError` catch it. Its cause is the
    exception itself, with the operation's traceback; notes say which operator, node and plugin, and
    where it was pushed.
    """


class OperatorGroupError(OperatorError, ExceptionGroup[OperadError]):
    """Several operations failed independently; `exceptions` holds their errors in push order."""

    def derive(self, excs: Sequence[OperadError]) -> OperatorGroupError:  # type: ignore[override]  # of ours
        """A group of some of them, as `except*` makes it."""
        return OperatorGroupError(self.message, excs)


class StorageError(OperadError):
    """A storage handle was freed twice or used after it was freed."""


class OutOfMemoryError(OperadError, MemoryError):
    """A device has no memory left, after the pools were emptied and the request tried again."""


class PluginError(OperadError, ImportError):
    """A plugin cannot be used."""


class BrokenPluginError(PluginError):
    """Importing a plugin's module failed; the message carries its traceback."""


class PluginNotReadyError(PluginError):
    """A plugin is asked for what it provides while it is being imported, by its own import or inside it."""


class IncompatiblePluginError(PluginError):
    """A plugin declares a core range that the installed core is not in."""


class BlockedPluginError(PluginError):
    """A plugin is switched off by `OPERAD_BLOCK` or `OPERAD_SAFE`."""


class DuplicateOperatorError(PluginError):
    """Two installed distributions provide an operator of the same name."""


class OperatorNotFoundError(OperadError, AttributeError):
    """No installed plugin provides an operator of that name."""


_classes: Final[dict[tuple[type[OperadError], type[Exception]], Any]] = {}

E = TypeVar("E", bound=OperadError)
X = TypeVar("X", bound=BaseException)


def suggestion(name: str, known: Iterable[str], expected: str = "expected some of") -> str:
    """Advice about a name that is none of `known`: the closest of them, else all, after `expected`."""
    import difflib  # noqa: PLC0415 - lazy: only errors need it

    names = list(known)
    close = difflib.get_close_matches(name, names, n=1)
    return f"did you mean {close[0]!r}?" if close else f"{expected} {', '.join(names) or 'none'}"


def class_of_both(ours: type[E], raised: type[Exception]) -> type[E]:
    """The class of errors that are `ours` and `raised` at once; `ours` where there can be none.

    Named after both: `OperatorLinAlgError`, `OperadFileNotFoundError`.
    """
    found = _classes.get((ours, raised))
    if found is None:
        members: dict[str, Any] = {
            "__module__": raised.__module__,
            "__doc__": raised.__doc__,
            "raised": raised,
        }
        # Made as `raised` is: a RuntimeError would leave out what an OSError keeps of its arguments.
        members |= {"__new__": raised.__new__, "__init__": raised.__init__}
        name = f"{ours.__name__.removesuffix('Error')}{raised.__name__}"
        try:
            found = type(name, (ours, raised), members)
        except TypeError:  # it cannot be derived from
            found = ours
        _classes[ours, raised] = found
    return found


def as_one_of_ours(ours: type[OperadError], error: Exception) -> OperadError:
    """`error` as an instance of `ours` that is also one of its own class, with its notes, caused by it."""
    wanted = class_of_both(ours, type(error))
    made = None if wanted is ours else copied_as(wanted, error)
    if made is None:
        made = ours(f"{type(error).__name__}: {error}")
    made.__cause__ = error
    made.__notes__ = list(getattr(error, "__notes__", ()))
    return made


def copied_as(wanted: type[X], error: BaseException) -> X | None:
    """A copy of `error` as an instance of `wanted`, without traceback and causes; None if there is none."""
    for make in (_called, _without_init):
        try:
            made = make(wanted, error)
            made.args = error.args
            if type(made) is wanted and str(made) == str(error):
                made.__dict__.update(error.__dict__)
                return made
        except Exception as refusal:  # noqa: BLE001 - whatever a class of errors does when it is made
            raise_of_handler(refusal)
    return None


def _called(wanted: type[X], error: BaseException) -> X:
    return wanted(*error.__reduce__()[1])  # for `OSError`, more than `args`


def _without_init(wanted: type[X], error: BaseException) -> X:
    """For classes whose `__init__` does not take `args`."""
    made = wanted.__new__(wanted, *error.args)
    made.__dict__.update(error.__dict__)
    return made


def _remade(
    ours: type[OperadError], raised: type[Exception], args: tuple[Any, ...], state: dict[str, Any]
) -> OperadError:
    wanted = class_of_both(ours, raised)
    made = wanted.__new__(wanted, *args)
    made.args = args
    made.__dict__.update(state)
    return made
