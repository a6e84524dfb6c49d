"""Errors of operators are no larger than those that are kept for this instruction set."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from operad import registry
from operad_check.trials.case import Case
from operad_check.trials.subject import subject_of
from operad_check.trials.trial import Trial
from tools import accuracy, accuracy_page, accuracy_peers
from tools.accuracy_truth import true_gradients
from tools.exact_numbers import Number, exact, split

FEW = ("exp", "sum", "softmax", "sqrt", "tanh")
"""Operators that the fast suite has time for."""
BY_BLAS = frozenset((
    "_contrib_DeformableConvolution", "_multi_lamb_update", "batch_dot", "dot", "linalg_potrf", "linalg_trmm",
    "tensordot",
))  # fmt: skip
"""Operators whose products are OpenBLAS's, which has several kernels for one instruction set: errors of these
are up to three times as large on an AMD EPYC of family 26, for which it takes those of Haswell. Reported on
the page, and not bound."""


def expect_no_worse(name: str) -> None:
    kept = accuracy.kept()
    if not kept:
        pytest.skip(f"no figures are kept for {accuracy.instruction_set()}: python -m tools.accuracy")
    assert accuracy.worsened(kept.get(name, {}), accuracy.figures(name)) == []


@pytest.mark.parametrize("name", FEW)
def test_errors_are_no_larger(name: str) -> None:
    expect_no_worse(name)


@pytest.mark.more
@pytest.mark.parametrize("name", sorted({*registry.list_operators(aliases=False)} - {*FEW} - BY_BLAS))
def test_errors_of_all_others_are_no_larger(name: str) -> None:
    expect_no_worse(name)


def test_a_figure_is_worse_that_is_twice_as_large_and_above_two_units() -> None:
    kept = {"forward float32 ordinary plain": accuracy.Error(1.5, 1.5)}
    found = {"forward float32 ordinary plain": accuracy.Error(1.9, 3.1), "new": accuracy.Error(50, 50)}
    assert accuracy.worsened(kept, found) == ["forward float32 ordinary plain: 1.5, now 3.1"]
    assert accuracy.worsened(kept, {"forward float32 ordinary plain": accuracy.Error(1.9, 1.9)}) == []


def test_an_array_of_zeros_is_counted_in_units_of_its_arguments() -> None:
    found, nothing = np.array([2.0**-24, 0.0], np.float32), (np.zeros(2), np.zeros(2))
    assert accuracy.error(found, nothing, 1.0) == (0.0, 0.5)


def test_places_beside_a_kink_have_no_true_value() -> None:
    lhs, rhs = np.array([1.0, 2.0], np.float32), np.array([1.0, 3.0], np.float32)
    trial = Trial(subject_of("broadcast_maximum"), Case(inputs={"lhs": lhs, "rhs": rhs}))
    for truth in true_gradients(trial):
        assert truth is not None
        np.testing.assert_array_equal(np.isnan(truth[0]), [True, False])


def test_a_library_that_crashes_or_waits_is_started_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accuracy_peers, "_PATIENCE_S", 10.0)
    peer = accuracy_peers.Peer(sys.executable, "none such")
    first = peer._process
    assert peer(accuracy_peers.Job("exp", {}, {}, {}, [], False)) is None
    assert first.wait() != 0
    assert peer._process is not first
    peer._process.kill()
    peer._process.communicate()


def test_an_error_is_counted_in_units_of_the_value_and_of_the_largest() -> None:
    found = np.array([1 + 2**-22, 1024.0], np.float32)
    assert accuracy.error(found, (np.array([1.0, 1024.0]), np.zeros(2))) == (2.0, 2.0**-9)
    assert accuracy.error(np.array([np.nan], np.float32), (np.array([1.0]), np.zeros(1))).own == np.inf
    assert accuracy.error(np.array([np.inf], np.float32), (np.array([1e39]), np.zeros(1))) == (0.0, 0.0)


def test_functions_of_arrays_compute_in_many_digits() -> None:
    x = exact(np.array([0.5, 2.0]))
    high, low = split(np.exp(x) / np.exp(x).sum())
    assert high.sum() == 1.0
    assert 0 < np.abs(low).max() < 1e-16
    assert abs(np.log(np.exp(x))[0] - Number(0.5)) < Number("1e-150")
    casts = Number.casts
    assert (x.astype(np.float64) == [0.5, 2.0]).all()
    assert Number.casts > casts


def test_the_page_is_that_of_the_figures_that_are_kept() -> None:
    head, begin, rest = accuracy.PAGE.read_text(encoding="utf-8").partition(accuracy_page.BEGIN)
    assert begin
    assert head.startswith("# Accuracy")
    assert accuracy.FIGURES.joinpath(accuracy.PAGE_OF + ".json").exists()
    figures, sums = accuracy.read(accuracy.PAGE_OF), accuracy.read_sums(accuracy.PAGE_OF)
    assert begin + rest == accuracy_page.tables(figures, sums, accuracy.PAGE_OF) + "\n"
