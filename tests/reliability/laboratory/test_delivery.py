"""The running interpreter looks at signals where the explorer and the checker of commits take it to look."""

from __future__ import annotations

import pytest

from tests.reliability.laboratory.commits import looks
from tests.reliability.laboratory.delivery import traced
from tests.reliability.laboratory.points import JUMPS, SWITCHES

pytestmark = pytest.mark.serial


def test_signals_are_looked_at_where_they_are_taken_to_be_and_nowhere_else() -> None:
    looked, passed = traced()
    assert looked.total() > 100
    assert {name for name in looked if not looks(name)} == set()
    of_commits = {"STORE_ATTR", "DELETE_ATTR", "LOAD_ATTR", "BINARY_SUBSCR", "DELETE_SUBSCR", "IS_OP"}
    assert of_commits <= set(passed)


def test_threads_are_switched_in_the_explorer_wherever_signals_are_looked_at() -> None:
    looked, _ = traced()
    of_signals_alone = {name for name in looked if name.startswith("FORMAT_")}
    assert {name for name in looked if not name.startswith((*SWITCHES, *JUMPS))} == of_signals_alone
