from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys

import pytest

from operad.cli.page import Mark, PlainPage, RichPage

ESCAPE = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


def on_a_terminal(*words, columns=100, env=None):
    """What a program prints when standard output and error are a terminal, and its exit code."""
    parent, child = pty.openpty()
    settings = {"TERM": "xterm-256color", "COLUMNS": str(columns), **(env or {})}
    kept = {
        name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR", "CI")
    }
    process = subprocess.Popen(
        [sys.executable, *words], stdin=child, stdout=child, stderr=child, env={**kept, **settings}
    )
    os.close(child)
    pieces = []
    while True:
        ready, _, _ = select.select([parent], [], [], 60)
        assert ready, "the program printed nothing for a minute"
        try:
            piece = os.read(parent, 65536)
        except OSError:  # Linux: the other end is closed
            break
        if not piece:
            break
        pieces.append(piece)
    os.close(parent)
    return b"".join(pieces).decode().replace("\r\n", "\n"), process.wait(timeout=60)


@pytest.mark.more
def test_a_terminal_gets_tables_and_colours():
    text, code = on_a_terminal("-m", "operad", "doctor", env={"OPERAD_ENGIN": "naive"})
    assert code == 1
    assert "\x1b[1;31merror" in text
    assert "──" in text
    assert "unknown setting OPERAD_ENGIN" in ESCAPE.sub("", text)


@pytest.mark.parametrize("kind", [PlainPage, RichPage])
def test_what_would_steer_a_terminal_is_spelt_out(kind, capsys):
    evil = "x\x1b]0;title\x07\r\u202ey"
    page = kind()
    page.heading(evil)
    page.text(evil)
    page.code(evil)
    page.table(("name",), [(Mark(evil, "name"),)])
    page.pairs([(evil, evil)])
    shown = ESCAPE.sub("", capsys.readouterr().out)
    assert not set(shown) & set("\x1b\x07\r\u202e")
    assert shown.count(r"x\x1b]0;title\x07\r\u202ey") >= 5


def test_json_on_a_terminal_has_no_colours():
    text, _ = on_a_terminal("-m", "operad", "plugins", "--json")
    assert text.startswith("{\n")
    assert "\x1b" not in text


@pytest.mark.more
def test_a_terminal_shows_progress_and_leaves_none_of_it(tmp_path):
    text, code = on_a_terminal("-m", "operad", "stubs", "--out", str(tmp_path), columns=200)
    assert code == 0
    assert "reading operators" in text
    lines = [line for line in ESCAPE.sub("", text.rpartition("reading operators")[2]).splitlines() if line]
    assert lines[-4:] == [
        str(tmp_path / "operad" / name) for name in ("py.typed", "__init__.pyi", "nd.pyi", "sym.pyi")
    ]


def test_brackets_are_no_markup():
    program = (
        "from operad.cli.page import Mark, page\n"
        "page().text('[bold]shape[/bold] [3, 4]')\n"
        "page().table(['a'], [[Mark('[red]x', 'good')]])"
    )
    text = ESCAPE.sub("", on_a_terminal("-c", program)[0])
    assert "[bold]shape[/bold] [3, 4]" in text
    assert "[red]x" in text


def test_a_program_is_not_wrapped_on_a_terminal():
    line = f"inputs = {[1.5] * 40}"
    program = f"from operad.cli.page import page; page().code({line!r})"
    assert line in on_a_terminal("-c", program, columns=40)[0].splitlines()


def test_a_path_is_not_cut_on_a_terminal():
    path = "/".join(["folder"] * 20)
    program = f"from operad.cli.page import page; page().pairs([('source', {path!r})])"
    text = ESCAPE.sub("", on_a_terminal("-c", program, columns=40)[0])
    assert "".join(text.split()).removeprefix("source") == path


def test_plain_text_is_neither_wrapped_nor_cut(capsys):
    PlainPage().table(["name", "text"], [["a", "word " * 100], [Mark("bb", "bad"), "two\nlines"]])
    assert capsys.readouterr().out.splitlines() == [
        "name  text",
        f"a     {('word ' * 100).rstrip()}",
        "bb    two lines",
    ]


def test_sections_are_apart_and_nothing_is_empty(capsys):
    page = PlainPage()
    page.heading("First")
    page.pairs([("key", "value"), ("longer", Mark("other", "quiet"))])
    page.table(["no", "rows"], [])
    page.pairs([])
    page.heading("Second")
    page.text("end")
    expected = "First\nkey:     value\nlonger:  other\n\nSecond\nend\n"
    assert capsys.readouterr().out == expected


def test_both_pages_show_the_same_words(capsys):
    for page in (PlainPage(), RichPage()):
        page.heading("Head")
        page.text(Mark("text", "name"))
        page.code("program")
        page.table(["column"], [["cell"]])
        page.table(["absent"], [])
        page.pairs([("key", "value")])
        words = set(re.findall(r"\w+", capsys.readouterr().out))
        assert words == {"Head", "text", "program", "column", "cell", "key", "value"}
