"""Cases of densities, of Hawkes processes, and of boxes as offsets from anchors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.conformance.recorded.case import Case, Recipe, exactly, integers, normal, permutation, uniform


def densities() -> Iterator[Case]:
    """Samples of distributions whose parameters are arrays."""
    numbers, counts = uniform(2, 3, low=0.1, high=0.9), integers(2, 3, low=0, high=6)
    over_one, share = uniform(2, low=0.5, high=3.0), uniform(2, low=0.2, high=0.8)
    rows: list[tuple[str, Recipe, tuple[Recipe, ...], Any]] = [
        ("uniform", numbers, (uniform(2, low=-2.0, high=0.0), uniform(2, low=1.0, high=2.0)), None),
        ("normal", normal(2, 3), (normal(2), over_one), None),
        ("gamma", numbers, (over_one, over_one), None),
        ("exponential", numbers, (over_one,), None),
        ("poisson", counts, (over_one,), (1,)),
        ("negative_binomial", counts, (over_one, share), (1, 2)),
        ("generalized_negative_binomial", counts, (over_one, share), (1, 2)),
    ]
    for name, sample, params, grad in rows:
        op = f"_random_pdf_{name}"
        yield Case(op, "defaults", (sample, *params), grad=grad, rtol=1e-4, atol=1e-5)
        yield Case(op, "log", (sample, *params), {"is_log": True}, grad=grad, rtol=1e-4, atol=1e-5)
    beyond = exactly([[-1.0, 0.0, 0.5, 1.0, 2.0]])
    ends = exactly([0.0]), exactly([1.0])
    yield Case("_random_pdf_uniform", "beyond_the_ends", (beyond, *ends), grad=())
    yield Case("_random_pdf_normal", "far_out", (exactly([[30.0, -40.0]]), *ends), grad=())
    yield Case("_random_pdf_poisson", "nothing", (exactly([[0.0, 1.0]]), exactly([0.5])), grad=())
    shares = exactly([[[0.2, 0.3, 0.5], [0.1, 0.8, 0.1]], [[0.4, 0.4, 0.2], [0.25, 0.25, 0.5]]])
    concentration = uniform(2, 3, low=0.5, high=3.0)
    for name, params in (("defaults", {}), ("log", {"is_log": True})):
        yield Case("_random_pdf_dirichlet", name, (shares, concentration), params, rtol=1e-4, atol=1e-5)


def processes() -> Iterator[Case]:
    """Events that excite one another."""
    marks, length = exactly([[0, 1, 0, 2], [2, 2, 1, 0]], "int32"), exactly([4.0, 2.0])
    rates, per_mark = uniform(2, 3, low=0.5, high=2.0), uniform(3, low=0.2, high=0.8)
    lags, end = uniform(2, 4, low=0.1, high=1.0), exactly([5.0, 6.0])
    for name, state in (("fresh", exactly([[0.0] * 3] * 2)), ("excited", uniform(2, 3, low=0.1))):
        inputs = (rates, per_mark, uniform(3, low=0.5, high=3.0), state, lags, marks, length, end)
        yield Case("_contrib_hawkesll", name, inputs, grad=(0, 1, 2), rtol=1e-4, atol=1e-4)


def codings() -> Iterator[Case]:
    """Boxes as offsets from anchors, and back; pairs of rows and columns."""
    samples = exactly([[1.0, -1.0, 0.0, 1.0]])
    matches = exactly([[1.0, 0.0, 0.0, 0.0]])
    anchors = exactly(
        [[[0.1, 0.1, 0.4, 0.4], [0.2, 0.2, 0.5, 0.6], [0.5, 0.5, 0.9, 0.9], [0.0, 0.6, 0.3, 1.0]]]
    )
    truth = exactly([[[0.0, 0.5, 0.3, 0.9], [0.1, 0.2, 0.45, 0.4]]])
    means, stds = exactly([0.0, 0.1, 0.2, -0.1]), exactly([0.1, 0.1, 0.2, 0.2])
    yield Case("_contrib_box_encode", "defaults", (samples, matches, anchors, truth, means, stds), grad=())
    rows: list[tuple[str, dict[str, Any]]] = [
        ("defaults", {}),
        ("corner", {"format": "corner"}),
        ("stds", {"std0": 0.1, "std1": 0.2, "std2": 0.3, "std3": 0.4}),
        ("clip", {"clip": 0.3}),
    ]
    for name, params in rows:
        yield Case("_contrib_box_decode", name, (normal(2, 4, 4), anchors), params, grad=())
    pairs: list[tuple[str, dict[str, Any]]] = [
        ("defaults", {"threshold": 0.0}),
        ("threshold", {"threshold": 8.5}),
        ("ascending", {"threshold": 7.5, "is_ascend": True}),
        ("topk", {"threshold": 0.0, "topk": 1}),
        ("topk_of_two", {"threshold": 0.0, "topk": 2}),
    ]
    for name, params in pairs:
        yield Case("_contrib_bipartite_matching", name, (permutation(3, 4),), params, grad=())
    yield Case("_contrib_bipartite_matching", "batch", (permutation(2, 3, 2),), {"threshold": 0.0}, grad=())


CASES: list[Case] = [*densities(), *processes(), *codings()]
