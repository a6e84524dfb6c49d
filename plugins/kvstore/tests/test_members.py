from __future__ import annotations

from operad_kvstore.members import Members


def test_who_was_heard_of_and_then_not_for_too_long_is_lost() -> None:
    now = 0.0
    members = Members(3, 10.0, lambda: now)
    members.hear(0)
    members.hear(1)
    now = 8.0
    members.hear(0)
    now = 11.0
    assert members.find_silent() == [1]
    assert members.find_silent() == []
    assert members.lost == {1: "was not heard of for 10 s"}
    assert members.live == [0, 2]


def test_the_first_reason_stays() -> None:
    members = Members(1, 10.0)
    members.lose(0, "was killed by signal 9")
    members.lose(0, "has finished")
    assert members.lost == {0: "was killed by signal 9"}
