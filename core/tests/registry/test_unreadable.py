"""Distributions whose metadata cannot be read: each is recorded, and disturbs nobody else."""

from __future__ import annotations

import os
import sys

import pytest

from operad import registry
from operad.errors import OperatorNotFoundError

POINTS = b"[operad.operators]\nbad_one = bad_ops:bad_one\n"
HEADERS = b"Metadata-Version: 2.1\nName: bad-ops\nVersion: 1.0\n"


@pytest.fixture
def sound(site):
    site.install(
        "acme-ops",
        operators={"acme_one": "acme_sound:acme_one"},
        modules={"acme_sound": site.properties("acme_one")},
    )
    return site


def write(site, name="bad_ops", **files):
    folder = site.folder / f"{name}-1.0.dist-info"
    folder.mkdir()
    for file, content in files.items():
        if content is not None:
            (folder / {"points": "entry_points.txt", "metadata": "METADATA"}[file]).write_bytes(content)
    registry.refresh()
    return folder


def states():
    return {record.name: record.state for record in registry.load_all()}


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({"points": POINTS + b"\xff\xfe = x:y\n", "metadata": HEADERS}, "UnicodeDecodeError"),
        ({"points": POINTS.decode().encode("utf-16"), "metadata": HEADERS}, "UnicodeDecodeError"),
        ({"points": POINTS + b"no equals sign\n", "metadata": HEADERS}, "Error"),
        ({"points": POINTS, "metadata": HEADERS + b"Author: \xe9\n"}, "UnicodeDecodeError"),
        ({"points": POINTS, "metadata": b""}, "it has no name"),
        ({"points": POINTS, "metadata": b"Version: 1.0\n"}, "it has no name"),
        ({"points": POINTS, "metadata": None}, "it has no name"),
        ({"points": POINTS, "metadata": HEADERS.replace(b"bad-ops", b"bad\x1b[2Jops")}, "unprintable"),
        ({"points": POINTS + b"a\x1b[2J = x:y\n", "metadata": HEADERS}, "unprintable"),
    ],
    ids=[
        "bytes in points",
        "UTF-16",
        "bad line",
        "bytes in headers",
        "empty",
        "no name",
        "no headers",
        "escape in name",
        "escape in points",
    ],
)
def test_one_that_may_be_a_plugin_is_recorded_and_the_rest_works(sound, files, reason):
    folder = write(sound, **files)
    assert registry.get("acme_one").name == "acme_one"
    assert states() == {"acme-ops": "ok", "bad_ops": "broken"}
    (record,) = [record for record in registry.plugins() if record.state == "broken"]
    (broken,) = record.broken
    assert broken.distribution == "bad_ops 1.0"
    assert "Traceback" in broken.traceback
    assert str(folder) in broken.reason
    assert reason in broken.reason
    assert broken.reason.isprintable()


def test_a_missing_operator_says_that_a_distribution_could_not_be_read(sound):
    write(sound, points=POINTS, metadata=None)
    with pytest.raises(
        OperatorNotFoundError,
        match=r"the metadata of bad_ops 1\.0 cannot be read, see operad plugins --broken",
    ):
        registry.get("bad_one")


@pytest.mark.parametrize(
    "files",
    [
        {"points": b"[console_scripts]\nx = y:z\n", "metadata": b"Name: \xff\xfe"},
        {"points": b"[console_scripts]\n\xff = y:z\n", "metadata": HEADERS},
        {"points": b"[console_scripts]\nno equals sign\n", "metadata": HEADERS},
        {"points": None, "metadata": b"\xff"},
        {"points": None, "metadata": None},
    ],
)
def test_one_that_is_no_plugin_is_none_of_our_business(sound, files):
    write(sound, **files)
    assert states() == {"acme-ops": "ok"}
    with pytest.raises(OperatorNotFoundError) as caught:
        registry.get("bad_one")
    assert "cannot be read" not in str(caught.value)


@pytest.mark.parametrize("place", ["\0", 3, None, b"bytes", [], "no-such-folder", __file__])
def test_an_odd_place_on_the_path_hides_nothing(sound, monkeypatch, place):
    monkeypatch.setattr(sys, "path", [place, *sys.path])
    registry.refresh()
    # Not loaded: with a null byte there Python itself imports nothing.
    assert registry.list_operators() == ["acme_one"]


def test_a_finder_that_raises_hides_nothing(sound, monkeypatch):
    class Finder:
        def find_spec(self, *_):
            return None

        def find_distributions(self, context):
            raise RuntimeError("cannot search")

    monkeypatch.setattr(sys, "meta_path", [Finder(), *sys.meta_path])
    registry.refresh()
    assert registry.get("acme_one").name == "acme_one"


def test_an_unreadable_core_has_no_version_to_compare(sound):
    (sound.folder / "operad-0.4.0.dist-info" / "METADATA").write_bytes(b"\xff")
    registry.refresh()
    assert registry.get("acme_one").name == "acme_one"
    assert states() == {"acme-ops": "ok"}


def test_a_requirement_that_cannot_be_judged_concerns_its_owner_alone(sound):
    sound.install("odd-ops", operators={"odd": "odd:odd"}, requires=("operad; nonsense == '1'",))
    registry.refresh()
    assert states() == {"acme-ops": "ok", "odd-ops": "incompatible"}


@pytest.mark.parametrize("name", ["entry_points.txt", "METADATA"])
def test_a_file_that_would_never_end_is_not_read(sound, name):
    folder = write(sound, points=POINTS, metadata=HEADERS)
    (folder / name).unlink()
    os.mkfifo(folder / name)
    registry.refresh()
    assert states() == {"acme-ops": "ok", "bad_ops": "broken"}
    (record,) = [record for record in registry.plugins() if record.state == "broken"]
    assert "a pipe" in record.broken[0].reason
    (folder / name).unlink()
    with (folder / name).open("wb") as file:
        file.truncate(1 << 40)
    registry.refresh()
    (record,) = [record for record in registry.plugins() if record.state == "broken"]
    assert "OPERAD_MAX_TEXT_BYTES" in record.broken[0].reason
