from __future__ import annotations

import pytest

from operad_kvstore.errors import WorkerLostError
from operad_kvstore.members import Members


def test_who_was_heard_of_and_then_not_for_too_long_is_lost() -> None:
    now = 0.0
    members = Members(3, 10.0, "shrink", lambda: now)
    members.hear(0)
    members.hear(1)
    now = 8.0
    members.hear(0)
    now = 11.0
    assert members.find_silent() == [1]
    assert members.find_silent() == []
    assert members.lost == {1: "was not heard of for 10 s"}
    assert (members.present, members.expected) == ([0, 2], [0, 2])


def test_the_first_reason_stays() -> None:
    members = Members(1, 10.0)
    members.lose(0, "was killed by signal 9")
    members.lose(0, "has finished")
    assert members.lost == {0: "was killed by signal 9"}


@pytest.mark.parametrize("on_loss", ["raise", "wait"])
def test_a_round_takes_a_push_of_the_lost_ones_too_unless_the_others_go_on(on_loss: str) -> None:
    members = Members(2, 10.0, on_loss)
    members.lose(1, "was killed by signal 9")
    assert members.expected == [0, 1]


def test_who_comes_back_while_others_go_on_takes_part_once_it_has_arrived() -> None:
    members = Members(2, 10.0, "shrink")
    members.lose(1, "was killed by signal 9")
    members.come_back(1, is_arriving=True)
    assert (members.present, members.expected) == ([0, 1], [0])
    members.arriving.discard(1)
    assert members.expected == [0, 1]


def test_who_was_only_silent_is_back_with_its_next_word_where_it_was_waited_for() -> None:
    for on_loss, is_back in (("wait", True), ("raise", False)):
        members = Members(2, 10.0, on_loss)
        members.lose(1, "was not heard of for 10 s")
        if is_back:
            members.speak(1)
            assert members.lost == {}
        else:
            with pytest.raises(WorkerLostError, match="rank 1 was given up: it was not heard of for 10 s"):
                members.speak(1)


def test_nobody_waits_for_those_that_have_finished() -> None:
    members = Members(3, 10.0, "wait")
    members.lose(1, "was killed by signal 9")
    members.leave(2)
    assert list(members.gone) == [2]


@pytest.mark.parametrize(("on_loss", "is_over"), [("raise", True), ("shrink", True), ("wait", False)])
def test_the_job_is_not_over_while_a_worker_may_come_back(on_loss: str, is_over: bool) -> None:
    members = Members(2, 10.0, on_loss)
    members.lose(1, "was killed by signal 9")
    assert not members.is_over
    members.leave(0)
    assert members.is_over == is_over
