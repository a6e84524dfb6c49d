"""Wheels of strangers are read as data: what is no wheel, damaged or too large is a named error."""

from __future__ import annotations

import os
import zipfile

import pytest

from operad.cli import wheels
from operad.cli.wheels import REPORT, open_wheel
from operad.errors import FormatError, OperadError

METADATA = "Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n"
POINTS = "[operad.operators]\nDense = acme:Dense\ndense = acme:Dense\n"


def write(path, **changed):
    """A wheel with other files, or without those that are None."""
    files = {"METADATA": METADATA, "entry_points.txt": POINTS, "RECORD": ""} | changed
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("acme.py", "'''acme'''\n")
        for name, text in files.items():
            if text is not None:
                archive.writestr(f"acme-1.0.dist-info/{name}", text)
    return path


def test_names_of_entry_points_keep_their_case(tmp_path):
    with open_wheel(write(tmp_path / "a.whl")) as wheel:
        assert wheel.entry_points == {"operad.operators": {"Dense": "acme:Dense", "dense": "acme:Dense"}}
        assert wheel.metadata["Name"] == "acme"


def test_the_digest_is_of_everything_but_the_record_and_the_report(tmp_path):
    def digest(name, **changed):
        with open_wheel(write(tmp_path / name, **changed)) as wheel:
            return wheel.digest()

    first = digest("a.whl")
    assert digest("b.whl", RECORD="a,b,c", **{REPORT: "{}"}) == first
    assert digest("c.whl", METADATA=METADATA + "Summary: other\n") != first


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"METADATA": None}, "there is no acme-1.0.dist-info/METADATA"),
        ({"METADATA": b"Name: \xff"}, "is not UTF-8"),
        ({"entry_points.txt": "Dense = acme:Dense"}, "cannot be read"),
    ],
)
def test_what_is_wrong_with_a_wheel_is_said(tmp_path, changed, words):
    path = write(tmp_path / "a.whl", **changed)
    with pytest.raises(FormatError, match=words), open_wheel(path):
        pass


def test_a_file_that_is_too_large_is_refused_before_it_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(wheels, "_MOST_TEXT_BYTES", 1000)
    path = write(tmp_path / "a.whl", METADATA=METADATA + "x" * 1000)
    with pytest.raises(FormatError, match="METADATA has 1046 bytes, of at most 1000"), open_wheel(path):
        pass


def test_contents_that_are_too_large_have_no_digest(tmp_path, monkeypatch):
    monkeypatch.setattr(wheels, "_MOST_BYTES", 50)
    with (
        open_wheel(write(tmp_path / "a.whl")) as wheel,
        pytest.raises(FormatError, match="take more than 50 bytes"),
    ):
        wheel.digest()


def test_any_cut_or_changed_byte_is_an_error_of_ours_or_leaves_it_readable(tmp_path):
    whole = write(tmp_path / "a.whl").read_bytes()
    path = tmp_path / "b.whl"
    refused = 0
    for place in range(0, len(whole), 3):
        for content in (whole[:place], whole[:place] + bytes([whole[place] ^ 0x41]) + whole[place + 1 :]):
            path.write_bytes(content)
            try:
                with open_wheel(path) as wheel:
                    wheel.digest()
            except OperadError:
                refused += 1
    assert refused > len(whole) // 3


def test_a_pipe_is_no_wheel(tmp_path):
    os.mkfifo(tmp_path / "a.whl")
    with pytest.raises(FormatError, match="expected a regular file"), open_wheel(tmp_path / "a.whl"):
        pass
