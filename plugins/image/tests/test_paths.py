"""Paths that a file names stay in their folder unless the user says otherwise."""

from __future__ import annotations

import pytest

from operad import config
from operad.errors import FormatError
from operad_image.paths import inside


@pytest.fixture
def root(tmp_path, monkeypatch):
    (tmp_path / "root" / "a").mkdir(parents=True)
    (tmp_path / "rooted").mkdir()
    (tmp_path / "secret").write_text("s")
    (tmp_path / "root" / "link").symlink_to(tmp_path / "secret")
    (tmp_path / "root" / "folder").symlink_to(tmp_path)
    (tmp_path / "root" / "within").symlink_to("a")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "root"


def test_paths_below_the_root_are_joined(root):
    for path in ("a/b.jpg", "a/../b.jpg", "./b.jpg", "within/b.jpg"):
        assert inside(root, path, "a list") == f"{root}/{path}"
    assert inside(root, str(root / "b.jpg"), "a list") == str(root / "b.jpg")
    assert inside("", "b.jpg", "a list") == "b.jpg"
    assert inside("/", "/etc/passwd", "a list") == "/etc/passwd"


OUTSIDE = ("../secret", "a/../../secret", "/etc/passwd", "link", "folder/secret", "../rooted/x")


@pytest.mark.parametrize("path", OUTSIDE)
def test_paths_that_leave_the_root_are_refused_by_name(root, path):
    with pytest.raises(FormatError) as caught:
        inside(root, path, "the list 'x.lst'")
    for word in ("the list 'x.lst'", repr(path), "outside the folder", "OPERAD_OUTSIDE_ROOT=1"):
        assert word in str(caught.value)
    with pytest.raises(FormatError, match="outside the folder 'root'"):
        inside("root", path, "it")


@pytest.mark.parametrize("path", OUTSIDE)
def test_a_setting_allows_them(root, path, monkeypatch):
    monkeypatch.setenv("OPERAD_OUTSIDE_ROOT", "1")
    config.reload()
    try:
        inside(root, path, "it")
    finally:
        monkeypatch.undo()
        config.reload()


def test_a_null_byte_is_no_path(root):
    with pytest.raises(FormatError, match="expected a path"):
        inside(root, "a\0b", "it")
