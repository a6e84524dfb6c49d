"""Fixtures' ends: what a test did to the process is undone."""

from __future__ import annotations

import sys

import operad as od


def program_file(folder, monkeypatch, name, text):
    """A program's file in the current folder; what importing it does is undone."""
    (folder / f"{name}.py").write_text(text)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.chdir(folder)
    yield folder / f"{name}.py"
    return sys.modules.pop(name, None)


def stages_as_found(monkeypatch):
    """After programs that were run in this process, and may have had stages counted."""
    monkeypatch.setattr(sys, "argv", sys.argv)
    monkeypatch.setattr(sys, "path", sys.path[:])
    yield
    od.profiler.count_stages(False)
