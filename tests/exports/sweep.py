"""The sweep: checks of one framework on every first-party operator, and what each of them gave."""

from __future__ import annotations

import importlib
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from time import perf_counter
from typing import Any, Final, final

from operad import registry
from operad.errors import UnsupportedError
from operad_export import signature_of
from tests.exports.examples import Example, examples
from tests.exports.overhead import per_call
from tools.workspace import distributions

CHECKS: Final = {
    "torch": ("values", "opcheck", "compiled", "gradients", "gradcheck"),
    "jax": ("values", "jit", "vmap", "gradients", "grads"),
}
"""Checks by framework; the last compares with a numeric derivative."""
_NUMERIC: Final = ("gradcheck", "grads")
_DIRECT: Final = ("values", "gradients")
_TIMED: Final = (
    "tanh", "elemwise_add", "FullyConnected", "Convolution", "Pooling", "BatchNorm", "LayerNorm", "LRN",
    "softmax", "sum", "dot", "sgd_mom_update", "topk", "Dropout",
)  # fmt: skip
"""Operators of which the time of a call compiled by JAX is measured."""


@final
@dataclass
class Row:
    """What the checks gave for one operator.

    Attributes:
        operator: Its name.
        distribution: Whose it is.
        calls: Number of calls that were tried.
        verdicts: By check: "pass", "-" where there is nothing to check, or what went wrong.
        reason: Why its gradient is compared with our own and not with a numeric derivative; or, in place
            of any check, why it is not exported.
        us: Microseconds of a call of `od.nd` and of the exported function, on small arrays.
        seconds: That the checks took.
    """

    operator: str
    distribution: str
    calls: int = 0
    verdicts: dict[str, str] = field(default_factory=dict)
    reason: str = ""
    us: tuple[float, float] | None = None
    seconds: float = 0.0

    @property
    def failures(self) -> dict[str, str]:
        """Checks that found something."""
        return {check: text for check, text in self.verdicts.items() if text not in ("pass", "-")}

    def record(self) -> dict[str, Any]:
        """As JSON has it."""
        return asdict(self)


def first_party() -> list[str]:
    """The main names of all operators of this repository."""
    ours = {distribution.name for distribution in distributions()}
    return [n for n in registry.list_operators(aliases=False) if registry.operators()[n].distribution in ours]


def swept(framework: str, names: Iterable[str]) -> Iterator[Row]:
    """Rows of operators, one by one."""
    module = importlib.import_module(f"tests.exports.{framework}_sweep")
    for name in names:
        begin = perf_counter()
        row = Row(name, registry.operators()[name].distribution)
        try:
            _check(framework, module, row)
        except UnsupportedError as error:
            row.reason = str(error)
        row.seconds = round(perf_counter() - begin, 1)
        yield row


def _check(framework: str, module: Any, row: Row) -> None:
    signature_of(row.operator)  # refuses what cannot be exported
    ordinary, smooth = examples(row.operator)
    row.calls = len(ordinary) + len(smooth)
    if not ordinary:
        row.reason = "the checks make no case of it"
        return
    if framework == "jax" and ordinary[0].trial.subject.cls.is_shaped_by_values:
        row.reason = "shapes of its outputs depend on values"
        return
    row.reason, numeric = _numeric(ordinary, smooth)
    for check in CHECKS[framework]:
        if check in _NUMERIC:
            chosen = numeric[:1] if framework == "jax" else numeric
        elif check in _DIRECT:
            chosen = [*ordinary, *smooth] if framework == "torch" else [*ordinary[::2], *smooth[:1]]
        else:
            chosen = [*ordinary[1:2], *smooth[:1]] or ordinary  # each compiles several programs
        row.verdicts[check] = _verdict(getattr(module, check), chosen)
    row.us = _times(framework, row.operator, ordinary[0])


def measured(framework: str, name: str) -> tuple[float, float] | None:
    """Times of a call alone; None where there are none."""
    ordinary, _ = examples(name, is_smooth=False)
    return _times(framework, name, ordinary[0]) if ordinary else None


def _times(framework: str, name: str, example: Example) -> tuple[float, float] | None:
    if framework == "jax" and name not in _TIMED:
        return None
    module = importlib.import_module(f"tests.exports.{framework}_sweep")
    with suppress(Exception):  # what fails is among the verdicts
        return per_call(example, module.timed(example))
    return None


def _numeric(ordinary: Sequence[Example], smooth: Sequence[Example]) -> tuple[str, list[Example]]:
    """Calls whose gradient is the derivative; and the reason where none is."""
    if not smooth:
        prop = ordinary[0].trial.prop
        floats = any(prop.differentiable_inputs())
        return ("no smooth case" if floats else "no gradient"), []
    contract = smooth[0].subject.contract
    reasons = {}
    for example in smooth:
        prop = example.trial.prop
        why = contract.why_head_is_ignored(prop) or contract.why_no_numeric_gradient(prop)
        reasons[id(example)] = why
        if not why and not _is_double(example):
            reasons[id(example)] = "it computes in another type than float64"
    chosen = [example for example in smooth if not reasons[id(example)]]
    return ("" if chosen else next(iter(reasons.values()))), chosen


def _is_double(example: Example) -> bool:
    types = [*example.trial.in_types, *example.trial.out_types[: example.trial.visible]]
    return all(kind.name == "float64" for kind in types if kind.kind == "f")


def _verdict(check: Callable[[Example], bool], chosen: Sequence[Example]) -> str:
    """What a check gave, which says whether it compared anything."""
    compared = False
    for example in chosen:
        try:
            compared |= check(example)
        except Exception as error:  # noqa: BLE001 - whatever a framework raises is a finding
            frames = traceback.extract_tb(error.__traceback__)
            place = next((f for f in reversed(frames) if "operad" in f.filename), frames[-1])
            text = " ".join(f"{type(error).__name__}: {error}".split())
            where = f"{place.filename.rpartition('/')[2]}:{place.lineno}"
            return f"{text[:600]} [{example.case.describe()}] at {where}"
    return "pass" if compared else "-"
