"""Every pair that an operator declares to share memory, by every kernel that computes it."""

from __future__ import annotations

import pytest

from operad import registry
from operad.operator import FORWARD, choose_among
from operad_check.cases.kinds import ORDINARY
from operad_check.cases.retype import is_random
from operad_check.checks.inplace import expect_in_place
from operad_check.plan.profile import Profile
from operad_check.running.session import Session
from operad_check.trials.kernel_arrays import asks
from operad_check.trials.kernels import call_of, usable
from operad_check.trials.subject import subject_of
from operad_check.trials.trial import Trial
from tools.workspace import ROOT, distributions

OPERATORS = {
    registry.get(name): name
    for distribution in distributions(ROOT)
    if distribution.is_plugin
    for name in distribution.entry_points("operad.operators")
}.values()
NAMED = ["tanh", "broadcast_mul", "LeakyReLU", "Activation", "smooth_l1"]
"""Operators of which pairs are known to be declared."""
MOST_CASES = 8
FEW = Profile("few", examples=3, seconds=3.0)


def compared(name):
    """Elements compared, by all kernels on the first cases."""
    subject, count = subject_of(name), 0
    for case in Session(subject, FEW).pool(ORDINARY)[:MOST_CASES]:
        trial = Trial(subject, case)
        if not trial.is_runnable or is_random(trial):
            continue
        call = call_of(trial)
        kernels = usable(call)
        whole = [kernel for kernel in kernels if kernel.computes(trial.prop, FORWARD)]
        own = next(one for one in type(trial.prop).kernels if any(one is kernel for kernel in whole))
        for kernel in kernels:
            if not asks(kernel):  # those are whole choices, which D606 tries
                count += expect_in_place(trial, choose_among(call, [kernel, own]))
    return count


@pytest.mark.more  # those that are named stay among the fast
@pytest.mark.parametrize("name", OPERATORS)
def test_every_kernel_computes_declared_pairs_in_one_memory(name):
    compared(name)


def test_something_is_compared():
    lacking = [name for name in NAMED if name in OPERATORS and not compared(name)]
    assert not lacking
