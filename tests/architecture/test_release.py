"""The release command, on a small clone of this checkout: nothing of the checkout itself is changed."""

from __future__ import annotations

import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from tools.release import ReleaseError, release
from tools.workspace import ROOT

FOLDERS = ("core", "operator_sdk/sdk", "operator_sdk/check", "plugins/dropout")
TEMPLATE = "operator_sdk/check/src/operad_check/new/templates"
NAMES = ["operad", "operad-check", "operad-dropout", "operad-sdk"]


def git(folder: Path, *words: str) -> str:
    return subprocess.run(
        ["git", *words], cwd=folder, check=True, capture_output=True, text=True
    ).stdout.strip()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository with four of the distributions, and what a release reads beside them."""
    root = tmp_path / "checkout"
    for folder in FOLDERS:
        leave_out = shutil.ignore_patterns("__pycache__", "tests", "benchmarks", "dist")
        shutil.copytree(ROOT / folder, root / folder, ignore=leave_out)
    (root / "tests/architecture").mkdir(parents=True)
    for name in ("CHANGELOG.md", "tests/architecture/test_distributions.py"):
        shutil.copy(ROOT / name, root / name)
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
    release(checkout, "7.8.0", out, checks="", only=["operad-dropout"], tag=False)
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
    assert "operad>=7.8,<7.9" in (checkout / TEMPLATE / "project/pyproject.toml.jinja").read_text()
    assert '__version__ = "7.8.0"' in (checkout / "core/src/operad/__init__.py").read_text()
    assert "\n## [Unreleased]\n\n## [7.8.0] - 2" in (checkout / "CHANGELOG.md").read_text()


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
        release(checkout, "7.8.0", tmp_path / "out", checks="", only=["operad-dropout"], tag=True)
    assert (state(checkout), (tmp_path / "out").exists()) == (before, False)


@pytest.mark.slow
def test_a_wheel_that_requires_another_version_is_refused(checkout: Path, tmp_path: Path) -> None:
    file = checkout / "plugins/dropout/pyproject.toml"
    file.write_text(file.read_text().replace('"operad>=0.2,<0.3"', '"operad>=0.1,<0.2"'))
    git(checkout, "commit", "--quiet", "--all", "--message", "an old range")
    with pytest.raises(ReleaseError, match=r"it requires operad<0\.2,>=0\.1"):
        release(checkout, "7.8.0", tmp_path / "out", checks="", only=["operad-dropout"], tag=True)
