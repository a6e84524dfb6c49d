"""The lines in the plugins' pages on gradients of gradients are current."""

from __future__ import annotations

import pytest

from tools import second_order


def test_a_line_is_put_between_markers_and_found_again():
    page = second_order.with_line("# A plugin\n", "first")
    assert page.startswith("# A plugin\n\n" + second_order.BEGIN + "\nfirst\n")
    assert second_order.with_line(page, "second") == page.replace("first", "second")


@pytest.mark.slow
def test_lines_are_current(monkeypatch):
    monkeypatch.setattr("sys.argv", ["second_order", "--check"])
    assert second_order.main() == 0
