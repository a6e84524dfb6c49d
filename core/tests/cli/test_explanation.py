"""Why a part of a call has the kernel that it has."""

from __future__ import annotations

from core.tests.prepared_arrays import PLAIN, PREPARING, Scaled, call_of
from operad.cli.explanation import arrays_in_words, explained
from operad.op import choose, choose_among


def test_each_part_is_told_with_its_kernel_its_cost_and_the_others():
    forward, data, weight = explained(choose(call_of()), ["forward", "data_grad", "weight_grad"])
    assert [part.kernel for part in (forward, data, weight)] == [
        "Scaled.preparing",
        "Scaled.preparing",
        "Scaled.plain",
    ]
    assert forward.others == {"Scaled.plain": "priority 0 is below 1"}
    assert weight.others == {}
    assert forward.us > 0


def test_arrays_of_a_kernels_own_are_told_with_their_bytes():
    choice = choose(call_of()).with_prepared([(PREPARING, "twice")])
    forward, gradient = explained(choice, ["forward", "weight_grad"])
    assert (forward.prepared, gradient.prepared) == ({"twice": 24}, {})


def test_arrays_are_one_line_of_words():
    assert arrays_in_words({}) == ""
    assert arrays_in_words({"copy": 24, "twice": 8}) == "copy prepared (24 bytes), twice prepared (8 bytes)"


def test_a_kernel_that_is_no_better_by_estimate_says_so():
    other = PLAIN._replace(name="Scaled.other")
    call = call_of()
    call.prop = type("Scaled", (Scaled,), {"kernels": [PLAIN, other]})()
    (forward,) = explained(choose(call), ["forward"])
    assert forward.kernel == "Scaled.plain"
    assert forward.others["Scaled.other"].endswith("us by estimate, which is not less")


def test_one_that_is_asked_later_says_so_where_its_estimate_is_lower():
    other = PLAIN._replace(name="Scaled.other", cost=lambda _: 0.0)
    call = call_of()
    call.prop = type(
        "Scaled", (Scaled,), {"kernels": [PLAIN._replace(priority=1), other._replace(priority=1)]}
    )()
    choice = choose_among(call, call.prop.kernels)
    (forward,) = explained(choice, ["forward"])
    assert forward.others["Scaled.other"] == "Scaled.plain is asked first"
