"""The page of a sweep: `docs/measurements/exports.md`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from importlib.metadata import version
from statistics import median
from typing import Any, Final

from tests.exports.sweep import CHECKS

Rows = Mapping[str, Mapping[str, Any]]
"""Rows of one framework by operator, as `Row.record` gives them."""

_TITLES: Final = {
    "values": "values", "opcheck": "opcheck", "compiled": "compile", "gradients": "gradients",
    "gradcheck": "gradcheck", "jit": "jit", "vmap": "vmap", "grads": "check_grads",
}  # fmt: skip
_HEAD: Final = """\
# Operators in PyTorch and JAX

Every first-party operator, exported ([publish-once.md](../publish-once.md)) and checked by the
framework's own means, on cases that the contract checks make: up to three with parameters that differ,
one with empty axes, and up to three in float64 on which the gradient is smooth.

* *values*: outputs and states are the operator's own, bit for bit. Of operators that draw random numbers:
  a seed or key, and PyTorch's generator, decide them.
* *opcheck*: `torch.library.opcheck`, with symbolic shapes. *compile*: `torch.compile(fullgraph=True)`
  gives the values and gradients of the eager call, bit for bit (its back end is `aot_eager`). *jit*,
  *vmap*: `jax.jit` and `jax.vmap` give those of the plain call.
* *gradients*: those of the framework are our own, bit for bit. *gradcheck*, *check_grads*: they are the
  derivative, by `torch.autograd.gradcheck` and `jax.test_util.check_grads`; where they are not, by
  design, the reason stands there.
* *us*: microseconds of one call on small arrays, without gradients: `od.nd`, `torch.ops.operad` in eager
  mode, and, for some, the function compiled by `jax.jit`. The least of 15 runs, alternately, as other work
  went on beside them.

`-` is where there is nothing to compare.
"""


def page(record: Mapping[str, Rows], command: str) -> str:
    """The text of the page."""
    return "\n".join([*_head(record, command), *_summary(record), *_table(record), *_left_out(record)]) + "\n"


def _head(record: Mapping[str, Rows], command: str) -> Iterator[str]:
    yield _HEAD
    today = date.today()
    versions = ", ".join(f"{name} {version(name).partition('+')[0]}" for name in ("torch", "jax", "numpy"))
    yield f"{today.day} {today:%B %Y}, {versions}. Written by `{command}`.\n"


def _summary(record: Mapping[str, Rows]) -> Iterator[str]:
    yield "| framework | operators | exported | check | pass | nothing to compare | fail |"
    yield "|---|--:|--:|---|--:|--:|--:|"
    for framework, checks in CHECKS.items():
        rows = record[framework]
        done = [row for row in rows.values() if row["verdicts"]]
        for number, check in enumerate(checks):
            found = [row["verdicts"][check] for row in done]
            counts = found.count("pass"), found.count("-")
            first = (framework, len(rows), len(done)) if number == 0 else ("", "", "")
            cells = [*first, _TITLES[check], *counts, len(found) - sum(counts)]
            yield "| " + " | ".join(map(str, cells)) + " |"
    yield ""
    yield _overhead(record)


def _overhead(record: Mapping[str, Rows]) -> str:
    words = []
    for framework, title in (("torch", "PyTorch's call"), ("jax", "JAX's compiled call")):
        pairs = [row["us"] for row in record[framework].values() if row["us"]]
        more = sorted(theirs - ours for ours, theirs in pairs)
        words.append(
            f"{title} takes {median(more):.0f} us more than `od.nd` in the median of {len(more)} operators, "
            f"{more[len(more) * 9 // 10]:.0f} in nine of ten"
        )
    return "; ".join(words) + ".\n"


def _table(record: Mapping[str, Rows]) -> Iterator[str]:
    yield "## Operators\n"
    titles = [_TITLES[check] for checks in CHECKS.values() for check in checks]
    yield (
        "| operator | "
        + " | ".join([*titles, "us: nd", "torch", "jax", "gradient by our own alone, because"])
        + " |"
    )
    yield "|---|" + ":-:|" * len(titles) + "--:|--:|--:|---|"
    for name in sorted(record["torch"], key=str.lower):
        rows = {framework: record[framework].get(name) for framework in CHECKS}
        if not any(row and row["verdicts"] for row in rows.values()):
            continue
        marks = [_mark(rows[framework], check) for framework, checks in CHECKS.items() for check in checks]
        us = [(row or {}).get("us") for row in rows.values()]
        cells = [*marks, *_times(us), _reason(rows)]
        yield f"| `{name}` | " + " | ".join(cells) + " |"
    yield ""


def _mark(row: Mapping[str, Any] | None, check: str) -> str:
    verdict = (row or {}).get("verdicts", {}).get(check)
    if verdict is None:
        return " "
    return {"pass": "✓", "-": "-"}.get(verdict, "✗")


def _times(us: Sequence[Any]) -> list[str]:
    torch, jax = us
    own = next((pair[0] for pair in us if pair), None)
    return [
        f"{own:.0f}" if own else " ",
        f"{torch[1]:.0f}" if torch else " ",
        f"{jax[1]:.0f}" if jax else " ",
    ]


def _reason(rows: Mapping[str, Any]) -> str:
    found = [row["reason"] for row in rows.values() if row and row["verdicts"]]
    return found[0].replace("|", "\\|")


def _left_out(record: Mapping[str, Rows]) -> Iterator[str]:
    yield "## Not exported, or not tried\n"
    for framework, rows in record.items():
        for name, row in rows.items():
            if not row["verdicts"]:
                yield f"* `{name}` to {framework}: {row['reason']}"
    failures = [
        (framework, name, check, text)
        for framework, rows in record.items()
        for name, row in rows.items()
        for check, text in row["verdicts"].items()
        if text not in ("pass", "-")
    ]
    if failures:
        yield "\n## Failures\n"
    for framework, name, check, text in failures:
        yield f"* `{name}`, {framework} {_TITLES[check]}: {text[:300]}"
