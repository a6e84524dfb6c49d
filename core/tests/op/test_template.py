"""Calls with slots for arrays, filled again for each run."""

from __future__ import annotations

from operad.op.template import ArgumentSlot, CallTemplate, filled, in_groups


def test_slots_are_filled_by_number_and_plain_integers_stay():
    seen = []
    template = CallTemplate(lambda *args: seen.append(args), (ArgumentSlot(1), 1, ArgumentSlot(0)))
    filled([template], ["first", "second"])()
    assert seen == [("second", 1, "first")]


def test_templates_are_called_in_their_order_at_each_call():
    seen: list[str] = []
    call = filled([CallTemplate(seen.append, (ArgumentSlot(i),)) for i in (1, 0)], ["a", "b"])
    call()
    call()
    assert seen == ["b", "a", "b", "a"]


def test_groups_are_lists_of_so_many_each():
    assert list(in_groups([2, 0, 1], ["a", "b", "c"])) == [["a", "b"], [], ["c"]]
