"""The release command, on a small clone of this checkout: nothing of the checkout itself is changed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tarfile
import tomllib
from datetime import UTC, date, datetime
from pathlib import Path
from zipfile import ZipFile

import pytest

from tools.release import ReleaseError, build, bump, compare, release
from tools.workspace import ROOT, Distribution, distributions

ALL = {each.name: each for each in distributions()}
TEMPLATES = [path for each in ALL.values() for path in each.folder.glob("src/*/new/templates/project")]
"""Folders of `operad new`: one."""
PLUGIN = "operad-dropout"
NAMES = [
    name
    for name, each in ALL.items()
    if name in {PLUGIN, *ALL[PLUGIN].siblings()}
    or any(path.is_relative_to(each.folder) for path in TEMPLATES)
]
"""A plugin, what it requires, and the distribution of `operad new`."""
FOLDERS = [str(ALL[name].folder.relative_to(ROOT)) for name in NAMES]
SMALL = ["operad-dropout", "operad-fft", "operad-quadratic"]
STUBS = "plugins/standard/stubs/operad-stubs/__init__.pyi"
CHANGE = "`nd.first` gives the first row."

HOOK = """
from pathlib import Path
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

class Drawn(BuildHookInterface):
    def initialize(self, version, build_data):
        Path(self.root, "src/operad_dropout/drawn.py").write_text(f"DRAWN = {self.root!r}")
"""


def git(folder: Path, *words: str) -> str:
    return subprocess.run(
        ["git", *words], cwd=folder, check=True, capture_output=True, text=True
    ).stdout.strip()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository with a few of the distributions, and what a release reads beside them."""
    root = tmp_path / "checkout"
    for folder in FOLDERS:
        leave_out = shutil.ignore_patterns("__pycache__", "tests", "benchmarks", "dist")
        shutil.copytree(ROOT / folder, root / folder, ignore=leave_out)
    for name in ("CHANGELOG.md", "pyproject.toml", "tests/architecture/test_distributions.py", STUBS):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, root / name)
    (root / "changes").mkdir()
    (root / "changes/+first.added.md").write_text(CHANGE)
    git(root, "init", "--quiet")
    for key in ("user.name", "user.email"):
        git(root, "config", key, "tester")
    git(root, "add", ".")
    git(root, "commit", "--quiet", "--message", "begin")
    return root


def state(root: Path) -> tuple[str, str, str]:
    return git(root, "rev-parse", "HEAD"), git(root, "status", "--porcelain"), git(root, "tag")


def project(root: Path, folder: str) -> dict[str, object]:
    return dict(tomllib.loads((root / folder / "pyproject.toml").read_text())["project"])


@pytest.mark.slow
def test_a_rehearsal_builds_and_leaves_the_checkout_as_it_was(checkout: Path, tmp_path: Path) -> None:
    before, out = state(checkout), tmp_path / "out"
    release(checkout, "7.8.0", out, checks="", only=[PLUGIN], tag=False)
    assert sorted(file.name for file in out.iterdir()) == [
        "operad_dropout-7.8.0-py3-none-any.whl",
        "operad_dropout-7.8.0.tar.gz",
    ]
    assert state(checkout) == before


@pytest.mark.slow
def test_a_release_bumps_everything_and_tags(checkout: Path, tmp_path: Path) -> None:
    release(
        checkout,
        "7.8.0",
        tmp_path / "out",
        checks="git status --short",
        only=[],
        tag=True,
    )
    assert len(list((tmp_path / "out").glob("*.whl"))) == len(NAMES)
    assert state(checkout)[1:] == ("", "v7.8.0")
    assert git(checkout, "rev-parse", "v7.8.0^{commit}") == git(checkout, "rev-parse", "HEAD")
    assert {project(checkout, folder)["version"] for folder in FOLDERS} == {"7.8.0"}
    assert "operad>=7.8,<7.9" in str(project(checkout, "plugins/dropout")["dependencies"])
    (template,) = TEMPLATES
    written = checkout / template.relative_to(ROOT) / "pyproject.toml.jinja"
    assert "operad>=7.8,<7.9" in written.read_text()
    assert '__version__ = "7.8.0"' in (checkout / "core/src/operad/__init__.py").read_text()
    assert "__version__ = '7.8.0'" in (checkout / STUBS).read_text()
    changelog = (checkout / "CHANGELOG.md").read_text()
    assert re.search(rf"\n## \[7\.8\.0\] - 20..-..-..\n\n### Added\n\n- {re.escape(CHANGE)}\n\n", changelog)
    assert not list((checkout / "changes").glob("+*"))


@pytest.mark.parametrize(
    ("version", "message"),
    [
        ("0.1.0", "later than"),
        ("7.08.0", "plain one"),
        ("next", "is no version"),
        ("7.7.7", "tag v7.7.7 already"),
    ],
)
def test_a_version_that_will_not_do_is_refused(
    checkout: Path, tmp_path: Path, version: str, message: str
) -> None:
    git(checkout, "tag", "v7.7.7")
    with pytest.raises(ReleaseError, match=message):
        release(checkout, version, tmp_path / "out", checks="", only=[], tag=False)


def test_a_checkout_with_changes_is_refused(checkout: Path, tmp_path: Path) -> None:
    (checkout / "stray.txt").touch()
    with pytest.raises(ReleaseError, match=r"has changes(.|\n)*stray\.txt"):
        release(checkout, "7.8.0", tmp_path / "out", checks="", only=[], tag=True)


def test_a_folder_with_files_is_refused(checkout: Path, tmp_path: Path) -> None:
    (tmp_path / "stray.whl").touch()
    with pytest.raises(ReleaseError, match="has files in it"):
        release(checkout, "7.8.0", tmp_path, checks="", only=[], tag=False)


def test_a_failed_check_leaves_everything_as_it_was(checkout: Path, tmp_path: Path) -> None:
    before = state(checkout)
    with pytest.raises(ReleaseError, match="false ended with status 1"):
        release(checkout, "7.8.0", tmp_path / "out", checks="false", only=[], tag=True)
    assert (state(checkout), (tmp_path / "out").exists()) == (before, False)


@pytest.mark.slow
def test_a_failed_build_leaves_everything_as_it_was(checkout: Path, tmp_path: Path) -> None:
    git(checkout, "rm", "--quiet", "plugins/dropout/README.md")
    git(checkout, "commit", "--quiet", "--message", "broken")
    before = state(checkout)
    with pytest.raises(ReleaseError, match="operad-dropout cannot be built"):
        release(checkout, "7.8.0", tmp_path / "out", checks="", only=[PLUGIN], tag=True)
    assert (state(checkout), (tmp_path / "out").exists()) == (before, False)


@pytest.mark.slow
def test_a_wheel_that_requires_another_version_is_refused(checkout: Path, tmp_path: Path) -> None:
    file = checkout / "plugins/dropout/pyproject.toml"
    file.write_text(re.sub('"operad>=[^"]+"', '"operad>=0.1,<0.2"', file.read_text()))
    git(checkout, "commit", "--quiet", "--all", "--message", "an old range")
    with pytest.raises(ReleaseError, match=r"it requires operad<0\.2,>=0\.1"):
        release(checkout, "7.8.0", tmp_path / "out", checks="", only=[PLUGIN], tag=True)


def test_an_entry_written_by_hand_stays_as_it_is(checkout: Path) -> None:
    written = "\n## [7.8.0] - 2026-01-02\n\nBy hand.\n"
    for file in (checkout / "changes").glob("+*"):
        file.unlink()
    (checkout / "CHANGELOG.md").write_text(written)
    bump(checkout, "7.8.0", date(2026, 1, 3))
    assert (checkout / "CHANGELOG.md").read_text() == written


def test_an_entry_written_by_hand_beside_fragments_is_refused(checkout: Path) -> None:
    (checkout / "CHANGELOG.md").write_text("\n## [7.8.0] - 2026-01-02\n\nBy hand.\n")
    with pytest.raises(ReleaseError, match=r"entry for 7\.8\.0, and there are fragments: \+first\.added\.md"):
        bump(checkout, "7.8.0", date(2026, 1, 3))


@pytest.mark.more
def test_two_builds_in_two_folders_have_the_same_bytes(tmp_path: Path) -> None:
    epoch = 1_500_000_000
    for index, mode in enumerate((0o600, 0o664)):
        copies = [copied(ALL[name], tmp_path / f"sources-{index}", mode, changed=index) for name in SMALL]
        version = str(copies[0].declared["project"]["version"])
        build(copies, version, tmp_path / str(index), epoch=str(epoch))
    compare(tmp_path / "0", tmp_path / "1")
    wheels, sdists = ([*(tmp_path / "0").glob(f"*{end}")] for end in (".whl", ".tar.gz"))
    assert (len(wheels), len(sdists)) == (len(SMALL), len(SMALL))
    for wheel in wheels:
        with ZipFile(wheel) as archive:
            times = {datetime(*member.date_time, tzinfo=UTC).timestamp() for member in archive.infolist()}
        assert times == {epoch}
    for sdist in sdists:
        with tarfile.open(sdist) as archive:
            found = {(each.mtime, each.uid, each.gid, each.uname, each.mode) for each in archive.getmembers()}
        assert found == {(epoch, 0, 0, "", 0o644)}


def copied(distribution: Distribution, folder: Path, mode: int, changed: int) -> Distribution:
    """A copy of a distribution whose files have a mode and a time of their own."""
    target = folder / distribution.folder.name
    shutil.copytree(distribution.folder, target, ignore=shutil.ignore_patterns("__pycache__"))
    for file in filter(Path.is_file, target.rglob("*")):
        file.chmod(mode)
        os.utime(file, (changed, changed))
    return Distribution(target, distribution.declared)


@pytest.mark.more
def test_builds_that_differ_are_no_release(checkout: Path, tmp_path: Path) -> None:
    folder = checkout / ALL[PLUGIN].folder.relative_to(ROOT)
    (folder / "hatch_build.py").write_text(HOOK)
    with (folder / "pyproject.toml").open("a") as file:
        file.write("\n[tool.hatch.build.hooks.custom]\n")
    git(checkout, "add", ".")
    git(checkout, "commit", "--quiet", "--message", "a build that draws")
    before = state(checkout)
    with pytest.raises(
        ReleaseError, match=r"differ: .*\.whl \(operad_dropout-.*RECORD, operad_dropout/drawn\.py\)"
    ):
        release(checkout, "7.8.0", tmp_path / "out", checks="", only=[PLUGIN], tag=True, twice=True)
    assert (state(checkout), (tmp_path / "out").exists()) == (before, False)


def test_a_file_that_one_build_lacks_is_a_difference(tmp_path: Path) -> None:
    for name in ("made", "again"):
        (tmp_path / name).mkdir()
    (tmp_path / "again/x-1.0.tar.gz").touch()
    with pytest.raises(ReleaseError, match=r"differ: x-1\.0\.tar\.gz"):
        compare(tmp_path / "made", tmp_path / "again")
