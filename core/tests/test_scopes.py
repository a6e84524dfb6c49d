"""Scopes: levels inside each other, and attributes that are given back."""

from __future__ import annotations

import threading
from types import SimpleNamespace

from operad.scopes import Ending, Levels, as_now, closing


def test_leaving_gives_back_the_level_around():
    levels = Levels(lambda: "outside")
    levels.top = "outer", levels.top
    levels.top = "inner", levels.top
    levels.ending.__exit__(None, None, None)
    assert levels.top[0] == "outer"
    levels.ending.__exit__(None, None, None)
    assert levels.top[0] == "outside"


def test_each_thread_has_levels_of_its_own():
    levels, seen = Levels(lambda: "outside"), []
    levels.top = "inner", levels.top
    thread = threading.Thread(target=lambda: seen.append(levels.top[0]))
    thread.start()
    thread.join()
    assert seen == ["outside"]


def test_an_exception_passes_through_an_ending():
    owner = SimpleNamespace(mode=2)
    ending = Ending(as_now(owner, "mode"))
    owner.mode = 5
    assert not ending.__exit__(ValueError, ValueError("x"), None)
    assert owner.mode == 2


def test_closing_gives_back_attributes_beside_the_level():
    owner = SimpleNamespace(mode=1, level=None)
    close = closing(owner, "level", "mode")
    owner.level = owner.mode, owner.level
    owner.mode = 7
    assert close() is False
    assert (owner.mode, owner.level) == (1, None)
