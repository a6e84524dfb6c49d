"""The progress bar, which only a terminal sees."""

from __future__ import annotations

import io
import sys

import pytest

from operad.cli import progress


def test_nothing_is_shown_where_nobody_watches(capsys):
    with progress("reading", 2) as advance:
        advance("one")
        advance("two")
    assert capsys.readouterr() == ("", "")


def test_a_terminal_sees_label_steps_and_what_was_done_without_what_would_steer_it(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    with progress("reading", 2) as advance:
        advance("one")
        advance("t\x1b[2Jwo")
    shown = terminal.getvalue()
    assert "reading" in shown
    assert "2/2" in shown
    assert "\x1b[2Jwo" not in shown


def test_an_error_inside_ends_the_bar_and_goes_on():
    with pytest.raises(KeyError), progress("reading", 1):
        raise KeyError("lost")
