from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from operad_check.new import ScaffoldError, add, create


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made") / "acme-ops"
    create(folder, ops=[("first", "unary")], author="Ada")
    return folder


@pytest.fixture
def package(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "acme-ops"))


def contents(folder: Path) -> dict[str, str]:
    return {p.relative_to(folder).as_posix(): p.read_text() for p in folder.rglob("*") if p.is_file()}


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert text.count(old) == 1, old
    file.write_text(text.replace(old, new))


def project(folder: Path) -> dict[str, Any]:
    return dict(tomllib.loads((folder / "pyproject.toml").read_text())["project"])


def test_an_operator_is_added_beside_the_authors_own_changes(package: Path) -> None:
    edit(package / "pyproject.toml", 'version = "0.1.0"', 'version = "0.4.2"')
    first = 'first = "acme_ops.first:first"\n'
    edit(package / "pyproject.toml", first, first + first.replace("first =", "primo ="))
    edit(package / "src/acme_ops/first.py", "return x * np.abs(x)", "return x * np.abs(x) * 1")
    before = contents(package)
    files = add(package, [("SecondOp", "reduction"), ("third", "row")])
    new = [path.relative_to(package).as_posix() for path in files]
    assert new == [
        "src/acme_ops/second_op.py",
        "tests/test_second_op.py",
        "src/acme_ops/third.py",
        "tests/test_third.py",
        "pyproject.toml",
    ]
    after = contents(package)
    assert {name: text for name, text in after.items() if name not in new} == {
        name: text for name, text in before.items() if name not in new
    }
    assert project(package)["version"] == "0.4.2"
    assert project(package)["entry-points"]["operad.operators"] == {
        "first": "acme_ops.first:first",
        "primo": "acme_ops.first:first",
        "SecondOp": "acme_ops.second_op:SecondOp",
        "third": "acme_ops.third:third",
    }


def test_what_is_added_is_what_a_new_package_has(package: Path, tmp_path: Path) -> None:
    ops = [("second", "loss"), ("third", "property"), ("FullyConnected", "kernel-for")]
    add(package, ops)
    create(tmp_path / "fresh", "acme-ops", [("first", "unary"), *ops], author="Ada")
    mine, fresh = (
        {name: text for name, text in contents(folder).items() if name.startswith(("src", "tests"))}
        for folder in (package, tmp_path / "fresh")
    )
    assert mine == fresh
    assert project(package)["entry-points"] == project(tmp_path / "fresh")["entry-points"]
    assert set(project(package)["dependencies"]) == set(project(tmp_path / "fresh")["dependencies"])


def test_a_requirement_that_is_there_in_another_range_stays(package: Path) -> None:
    edit(package / "pyproject.toml", '"numpy>=2.2.5,<3"', '"numpy>=2.3", "operad-fully-connected>=0.1"')
    before = project(package)["dependencies"]
    add(package, [("FullyConnected", "kernel-for")])
    assert project(package)["dependencies"] == before


def test_a_package_without_operators_of_its_own_gets_the_table(package: Path) -> None:
    file = package / "pyproject.toml"
    edit(file, '[project.entry-points."operad.operators"]\nfirst = "acme_ops.first:first"\n', "")
    add(package, [("second", "binary")])
    points = project(package)["entry-points"]["operad.operators"]
    assert points == {"second": "acme_ops.second:second"}


def test_the_linter_of_the_package_has_nothing_to_say(package: Path) -> None:
    add(package, [("second", "property"), ("third", "loop")])
    for words in (["check"], ["format", "--check"]):
        command = [sys.executable, "-m", "ruff", *words, "--no-cache", str(package)]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("ops", "message"),
    [
        ([], "no operator was asked for"),
        ([("first", "binary")], "operator 'first' is there already, as acme_ops.first:first"),
        ([("First", "binary")], "src/acme_ops/first.py is there already"),
        ([("second", "unari")], "kind is 'unari'"),
        ([("second", "unary"), ("second", "binary")], "asked for twice"),
        ([("../second", "unary")], "expected a Python name"),
    ],
)
def test_operators_that_cannot_be_added_change_nothing(
    package: Path, ops: list[tuple[str, str]], message: str
) -> None:
    before = contents(package)
    with pytest.raises(ScaffoldError, match=message):
        add(package, ops)
    assert contents(package) == before


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('[project.entry-points."operad.operators"]', "[project.entry-points.'operad.operators']"),
        ('dependencies = ["operad>', 'dependencies= ["operad>'),
    ],
)
def test_a_project_file_in_another_form_is_left_alone_and_the_lines_are_shown(
    package: Path, old: str, new: str
) -> None:
    edit(package / "pyproject.toml", old, new)
    before = contents(package)
    with pytest.raises(ScaffoldError, match=r"add by hand .*second.*FullyConnected\.small"):
        add(package, [("second", "unary"), ("FullyConnected", "kernel-for")])
    assert contents(package) == before


@pytest.mark.parametrize(
    "text", ["", "[", "[project]\n", "project = 1\n", '[project]\nname = "../x"\n', "[project]\nname = 1\n"]
)
def test_a_folder_whose_project_names_no_package_is_refused(package: Path, text: str) -> None:
    (package / "pyproject.toml").write_text(text)
    with pytest.raises(ScaffoldError, match=r"found no name of a package in pyproject\.toml"):
        add(package, [("second", "unary")])


def test_a_folder_without_a_package_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ScaffoldError, match=r"found no name of a package in pyproject\.toml"):
        add(tmp_path, [("second", "unary")])


def test_a_package_with_its_sources_elsewhere_is_refused(package: Path) -> None:
    (package / "src/acme_ops").rename(package / "acme_ops")
    with pytest.raises(ScaffoldError, match="there is no folder src/acme_ops"):
        add(package, [("second", "unary")])
