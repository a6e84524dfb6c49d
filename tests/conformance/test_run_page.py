"""The tests of the documentation can fail."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conformance.run_page import PageError, read_blocks, run_page


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run(markdown: str) -> None:
    page = Path("page.md")
    page.write_text(markdown)
    run_page(page)


def fenced(info: str, text: str) -> str:
    return f"```{info}\n{text}\n```\n"


@pytest.mark.parametrize(
    ("block", "message"),
    [
        (fenced("python", "1 / 0"), "line 3: division by zero"),
        (fenced("python", ">>> 1 + 1\n3"), "examples above do not hold"),
        (fenced("python", ">>> 1 / 0\nTraceback (most recent call last):\nValueError: no"), "do not hold"),
        (fenced("python mxnet", "def f(:"), "invalid syntax"),
        (fenced("sh", "false | true"), "exited with 1"),
        (fenced("sh", "false\ntrue"), "exited with 1"),
        (fenced('sh no-run="it publishes"', "if"), "exited with 2"),
        (fenced("console", "$ echo one\ntwo"), "expected:\ntwo"),
        (fenced("console", "$ false"), "exited with 1"),
        (fenced("toml", "a = "), "Invalid value"),
        (fenced("json", "{"), "line 3: Expecting"),
        (fenced("pyhton", "1 / 0"), "language 'pyhton' is unknown, expected one of python, sh"),
        ("```python\npass\n", "line 3: the fence is not closed"),
    ],
)
def test_a_block_that_does_not_do_what_it_says_fails_its_page(block: str, message: str) -> None:
    with pytest.raises(PageError) as raised:
        run(f"# Title\n\n{block}")
    assert message in str(raised.value)


def test_blocks_share_names_and_go_on_in_the_folder_the_reader_went_to() -> None:
    Path("below").mkdir()
    run(
        fenced("python", "x = 2")
        + fenced("sh", "cd below")
        + fenced('text title="note.txt"', "written")
        + fenced("python", ">>> x + 1\n3")
        + fenced("console", "$ cat note.txt\nwri...\n$ basename $PWD\nbelow")
    )
    assert not Path("below", "page.md").exists()


def test_a_block_that_is_not_to_be_run_is_not() -> None:
    run(fenced('sh no-run="it leaves a file"', "touch file") + fenced("text", "touch file") + fenced("", "x"))
    assert not Path("file").exists()


def test_errors_and_sources_have_the_lines_of_the_page() -> None:
    run("\n\n" + fenced("python", "import inspect\ndef f(): pass\nassert inspect.getsourcelines(f)[1] == 5"))


def test_a_block_in_a_list_is_a_block() -> None:
    (block,) = read_blocks("1. first\n\n   ```python\n   if True:\n       x = 1\n   ```\n")
    assert (block.language, block.text) == ("python", "if True:\n    x = 1\n")
