"""Wrong operators of reports and of rare circumstances are red; right ones that are unusual are not.

Each is checked in a process of its own, because some change what belongs to the whole process.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

import pytest

from operator_sdk.tests.zoo.fault import Fault, Right
from operator_sdk.tests.zoo.folders import inhabitants
from operator_sdk.tests.zoo.table import ZOO
from tools.zoo import result

TRACKERS = ("https://github.com/",)
EXAMPLES, LIMIT_S = 50, 300.0

MISSED = frozenset(
    [
        "between_knots",
        "byte_difference",
        "capped_exponential",
        "changes_directory",
        "clears_nan",
        "cubed",
        "differences",
        "doubled_rows",
        "empty_batch",
        "exponential_less_one",
        "falls_back",
        "fast_total",
        "flat_take",
        "half_of_whole",
        "half_variance",
        "impossible_window",
        "keeps_inputs",
        "label_score",
        "largest_row",
        "leaves_file",
        "length",
        "log_softmax",
        "long_mean",
        "long_softmax",
        "masked_softmax",
        "mean_of_kept",
        "middle",
        "mirrored_long",
        "named_out",
        "named_scale",
        "no_warnings",
        "place_in_byte",
        "place_of_largest",
        "row_norm",
        "sampled",
        "seeds_numpy",
        "sets_environment",
        "sinc_near_zero",
        "smooth_distance",
        "square_of_difference",
        "standard_rows",
        "sum_in_parts",
        "swapped_moments",
        "tall_argmin",
        "turned_momentum",
        "unit_rows",
        "weights_by_hash",
        "whole_mean",
        "wide_totals",
    ]
)
"""Wrong operators that no check sees yet, without `zoo_`; a name goes when a check sees it."""
ACCUSED = frozenset(
    [
        "right_all_and_any",
        "right_bit_count",
        "right_choice",
        "right_clipped_pick",
        "right_dropout",
        "right_keeps_mask",
        "right_masked_mean",
        "right_relative_entropy",
        "right_rounded",
    ]
)
"""Right operators that some check takes for wrong yet, likewise."""


def names(*folders: str) -> list[str]:
    found = chain.from_iterable(map(inhabitants, folders))
    return sorted(one.operator.name.removeprefix("zoo_") for one in found)


def settled(*folders: str) -> Iterator[Any]:
    for folder in folders:
        for number, one in enumerate(inhabitants(folder)):
            if one.operator.name.removeprefix("zoo_") not in MISSED | ACCUSED:
                yield pytest.param(folder, number, one, id=one.title, marks=pytest.mark.slow)


@pytest.mark.parametrize(("folder", "number", "fault"), list(settled("reported", "circumstances")))
def test_a_wrong_operator_is_caught(folder: str, number: int, fault: Fault) -> None:
    assert result(folder, number, fault, EXAMPLES, LIMIT_S).verdict == "caught"


@pytest.mark.parametrize(("folder", "number", "right"), list(settled("right")))
def test_a_right_operator_is_cleared(folder: str, number: int, right: Right) -> None:
    found = result(folder, number, right, EXAMPLES, LIMIT_S)
    assert (found.verdict, found.red) == ("cleared", []), found.words


def test_every_reported_fault_says_where_it_was_reported() -> None:
    unsaid = [one.title for one in inhabitants("reported") if not one.report.startswith(TRACKERS)]
    assert unsaid == []


def test_no_two_inhabitants_have_one_name() -> None:
    found = names("reported", "circumstances", "right")
    assert found == sorted(set(found))


def test_what_is_missed_or_accused_is_in_the_zoo() -> None:
    assert set(names("reported", "circumstances")) >= MISSED
    assert set(names("right")) >= ACCUSED


def test_the_zoo_has_many_more_wrong_operators_than_checks() -> None:
    assert len([*ZOO, *inhabitants("reported"), *inhabitants("circumstances")]) >= 240
