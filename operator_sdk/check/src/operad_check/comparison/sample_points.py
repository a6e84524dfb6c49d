"""Sample points of derivatives: the case as it is, and others near it.

Values of a case lie on a lattice, where ties and kinks are: 0, integers, equal neighbours. A
finer lattice between its points has neither. And where nothing is declared of an argument, the
function may not be defined everywhere; then numbers between 0 and 1, and numbers above 1, are tried.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import prod

import numpy as np

from operad.operator import Shape
from operad_check.trials.trial import Array, Trial
from operad_check.trials.violation import Violation
from operad_sdk.domains import Real

_FINE = 1024
"""Points of the finer lattice in a unit."""
_FINER = 1024
"""Points between two of it, of which offsets are taken where there are too few others."""
_SHOWN = 6
"""Elements of an array that a message shows."""
_NEAR, _FAR = 16, 48
"""Distance of the points of the finer lattice from those of the coarse one, which are 128 apart."""


def sample_points(trial: Trial) -> Iterator[list[Array]]:
    """Inputs to take derivatives at, the case's own first; each is tried if the one before failed."""
    yield [array.copy() for array in trial.inputs]
    rng = np.random.default_rng([trial.case.seed, _FINE])
    offsets = _offsets(rng, [array.shape for array in trial.inputs])
    yield _moved(trial, [array + offset for array, offset in zip(trial.inputs, offsets, strict=True)])
    for scale, begin in ((0.25, 0.1875), (1.0, 1.25)):
        pairs = zip(trial.inputs, offsets, strict=True)
        yield _moved(trial, [abs(array) * scale + begin + offset for array, offset in pairs], free=True)


@contextmanager
def named_point(trial: Trial, inputs: Sequence[Array]) -> Iterator[None]:
    """Add to a violation which the block raises to what point arguments of the case were moved."""
    try:
        yield
    except Violation as error:
        for name, own, array in zip(trial.arguments, trial.inputs, inputs, strict=True):
            if not np.array_equal(own, array):
                is_short = array.size <= _SHOWN
                to = f"to {array.tolist()}" if is_short else f"by up to {np.abs(array - own).max():.3g}"
                error.add(f", where {name} was moved {to}")
        raise


def tied_points(trial: Trial) -> Iterator[list[Array]]:
    """Inputs at which kinks are looked for: the case's own, and its numbers rounded to whole ones.

    Of these more are 0, at a bound, or alike.
    """
    yield [array.copy() for array in trial.inputs]
    inputs = []
    for name, array in zip(trial.arguments, trial.inputs, strict=True):
        domain = trial.subject.contract.domain(name)
        rounded = np.rint(array) if array.dtype.kind == "f" else array
        is_free = domain is None or isinstance(domain, Real)
        accepted = [is_free and (domain is None or domain.accepts(float(x))) for x in rounded.flat]
        inputs.append(np.where(np.reshape(accepted, array.shape), rounded, array))
    yield inputs


def _offsets(rng: np.random.Generator, shapes: Sequence[Shape]) -> list[Array]:
    """Offsets of which no two are alike, unless there are very many.

    Where three equal numbers move along a line, their median follows the middle one of their slopes on both
    sides: it has a derivative along each line, and none of them is the gradient.
    """
    sizes = [prod(shape) for shape in shapes]
    finer = 1 if sum(sizes) <= 2 * (_FAR - _NEAR) else _FINER
    width = (_FAR - _NEAR) * finer
    steps = rng.choice(2 * width, sum(sizes), replace=sum(sizes) > 2 * width) - width
    offsets = (steps + np.where(steps < 0, -_NEAR, _NEAR) * finer) / (_FINE * finer)
    parts = np.split(offsets, np.cumsum(sizes, dtype=int))
    return [part.reshape(shape) for part, shape in zip(parts, shapes, strict=False)]


def _moved(trial: Trial, values: list[Array], *, free: bool = False) -> list[Array]:
    """The case's inputs, replaced by `values` where their domains accept them.

    Args:
        free: Whether only arguments of which nothing is declared are replaced.
    """
    inputs = []
    for name, array, value in zip(trial.arguments, trial.inputs, values, strict=True):
        domain = trial.subject.contract.domain(name)
        if array.dtype.kind != "f" or (domain is not None and (free or not domain.is_real)):
            inputs.append(array.copy())
        elif isinstance(domain, Real):
            accepted = [domain.accepts(float(element)) for element in value.flat]
            inputs.append(np.where(np.reshape(accepted, array.shape), value, array))
        else:
            inputs.append(np.asarray(value))  # of arrays without axes, NumPy makes numbers
    return inputs
