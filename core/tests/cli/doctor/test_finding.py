"""What the doctor says of one thing."""

from __future__ import annotations

import pytest

from operad.cli.doctor.finding import Finding, advice, error, warning


@pytest.mark.parametrize("make", [error, warning, advice])
def test_a_finding_has_the_level_of_the_function_that_makes_it(make):
    assert make("acme", "is odd", "fix it") == Finding(make.__name__, "acme", "is odd", "fix it")


def test_what_was_found_cannot_be_changed():
    with pytest.raises(AttributeError):
        error("acme", "is odd", "fix it").level = "advice"
