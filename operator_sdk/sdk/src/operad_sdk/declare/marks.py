"""Marks that decorators leave on functions of a class: gradients, and functions that run under the lock."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, NamedTuple, TypedDict, TypeVar, Unpack, final, overload

from operad_sdk.declare.function import split_pairs

F = TypeVar("F", bound=Callable[..., Any])

_MARK: Final = "_operad_gradient"
_END: Final = "_grad"
_LOCK_COST_LIMIT: Final = "_operad_lock_cost_limit_us"


@final
class GradientMark(NamedTuple):
    """Options of `@gradient` for one function; see there."""

    targets: tuple[str, ...] = ()
    inplace: tuple[str, ...] = ()
    when: Callable[[Any], bool] | None = None
    accumulate: bool = False
    traced: Callable[..., Any] | None = None

    def named(self, name: str) -> GradientMark:
        """The mark of a function called `name`, which states a target where the mark has none."""
        return self if self.targets or not name.endswith(_END) else self._replace(targets=(name,))


class GradientOptions(TypedDict, total=False):
    """Options of `@gradient`; see there."""

    inplace: str | Sequence[str]
    when: Callable[[Any], bool] | None
    accumulate: bool
    traced: Callable[..., Any] | None


def mark_with(targets: Iterable[str], inplace: str | Sequence[str] = (), **options: Any) -> GradientMark:
    """Mark of a function that computes the gradients of some arguments."""
    return GradientMark(tuple(name + _END for name in targets), split_pairs(inplace), **options)


@overload
def gradient(of: F, /) -> F: ...


@overload
def gradient(*of: str, **options: Unpack[GradientOptions]) -> Callable[[F], F]: ...


def gradient(
    *of: Any,
    inplace: str | Sequence[str] = (),
    when: Callable[[Any], bool] | None = None,
    accumulate: bool = False,
    traced: Callable[..., Any] | None = None,
) -> Any:
    """Mark a function of a class as a gradient.

    Needed only to say something beside it: a function called `backward` or `<argument>_grad` is one.

    Args:
        of: The arguments whose gradients it computes, where neither its name nor what it names says so.
        inplace: What it reads and may overwrite with what: `"output_grad -> data_grad"`; with one target
            the first name is enough. Several are separated by commas.
        when: Called with the property; the function counts only where it is true. So a gradient that
            reads less for some parameters can say so.
        accumulate: The function adds to its targets itself; they begin as zeros, or as what is there.
        traced: What takes its place where gradients of gradients are computed: a function that gives the
            same for the same targets, by NumPy's functions alone. Left out: the function itself.
    """
    if len(of) == 1 and callable(of[0]):
        return gradient()(of[0])
    mark = mark_with(of, inplace, when=when, accumulate=accumulate, traced=traced)

    def declare(function: F) -> F:
        setattr(function, _MARK, mark)
        return function

    return declare


def mark_of(name: str, function: Any) -> GradientMark:
    """Mark of a gradient called `name`."""
    mark: GradientMark = getattr(function, _MARK, GradientMark())
    return mark.named(name)


def is_gradient(name: str, value: Any) -> bool:
    """Return whether an attribute of a class is a gradient."""
    if isinstance(getattr(value, _MARK, None), GradientMark):
        return True
    return inspect.isfunction(value) and (name == "backward" or name.endswith(_END))


def lock_cost_limit(us: float) -> Callable[[F], F]:
    """Mark a forward function that does nothing but call functions of the array module.

    Then a call whose cost is estimated at no more than `us` microseconds may run while the engine's lock is
    held, which takes two microseconds off it. What else may have to wait for such a call does so.

    Args:
        us: Microseconds, a few.
    """

    def declare(function: F) -> F:
        setattr(function, _LOCK_COST_LIMIT, us)
        return function

    return declare


def lock_cost_limit_us(function: Any) -> float:
    """Estimate up to which calls of a forward function run under the lock; 0 if none is given."""
    found: float = getattr(function, _LOCK_COST_LIMIT, 0.0)
    return found
