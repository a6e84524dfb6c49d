"""The command writes a page and a file, and says what it could not read."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from operad.cli.search import read_index
from operad_index.command import main


@pytest.fixture
def run():
    return lambda *words: CliRunner().invoke(main, [str(word) for word in words])


def test_page_and_file_are_written_beside_the_wheels_or_elsewhere(wheels, run, tmp_path):
    wheels.write("acme-gates")
    assert run(wheels.folder).exit_code == 0
    done = run(wheels.folder, "--out", tmp_path / "site")
    assert "1 plugins with 1 operators" in done.output
    for place in (wheels.folder, tmp_path / "site"):
        assert [one.name for one in read_index(place / "index.json").plugins] == ["acme-gates"]
        assert "Gates of a layer." in (place / "index.html").read_text()


def test_what_wheels_say_is_text_on_the_page(wheels, run):
    wheels.write("acme-gates", "1.0", "Summary: <script>alert(1)</script>", "Keywords: \"'><img src=x>")
    run(wheels.folder)
    text = (wheels.folder / "index.html").read_text()
    assert "<script>alert" not in text
    assert "<img" not in text
    assert "&lt;script&gt;alert(1)" in text


def test_a_wheel_that_cannot_be_read_is_listed_and_ends_with_1(wheels, run):
    wheels.write("acme-gates")
    (wheels.folder / "bad-1.0-py3-none-any.whl").write_bytes(b"no zip")
    done = run(wheels.folder)
    assert done.exit_code == 1
    assert "not read: bad-1.0-py3-none-any.whl" in done.output
    assert "bad-1.0-py3-none-any.whl" in (wheels.folder / "index.html").read_text()


def test_a_folder_that_is_not_there_or_holds_no_plugin_is_an_error(wheels, run, tmp_path):
    assert "give --names FILE" in run(tmp_path / "nowhere").output
    done = run(wheels.folder)
    assert done.exit_code == 1
    assert "no wheel in" in done.output


def test_names_that_pip_cannot_bring_are_an_error(wheels, run, tmp_path):
    names = tmp_path / "names.txt"
    names.write_text(f"--no-index\n--find-links {tmp_path}\nno-such-distribution-of-anyone\n")
    done = run(wheels.folder, "--names", names)
    assert done.exit_code == 1
    assert "pip download failed" in done.output


def test_names_are_brought_as_wheels_from_where_pip_looks(wheels, run, tmp_path):
    made = wheels.write("acme-gates")
    names = tmp_path / "names.txt"
    names.write_text(f"--no-index\n--find-links {wheels.folder}\nacme-gates\n")
    folder = tmp_path / "brought"
    assert run(folder, "--names", names).exit_code == 0
    assert (folder / made.name).is_file()
