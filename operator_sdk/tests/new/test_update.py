from __future__ import annotations

import shutil
import subprocess
import tomllib
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import pytest

from operad_sdk.new import ScaffoldError, Update, create, update
from operad_sdk.new.render import ANSWERS_FILE, TEMPLATES, newest, read_answers, render

UNCHANGED = Update((), (), (), (), ())
WORKFLOW = ".github/workflows/test.yml"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made") / "acme-ops"
    create(folder, ops=[("first", "unary")], author="Ada")
    return folder


@pytest.fixture
def package(made: Path, tmp_path: Path) -> Path:
    """A package fresh from the template, in no git repository."""
    return Path(shutil.copytree(made, tmp_path / "acme-ops"))


@pytest.fixture
def next_template(tmp_path: Path) -> Callable[..., Path]:
    """Templates of which the newest differs by the replacements made in one file."""

    def make(file: str, *replacements: tuple[str, str]) -> Path:
        folder = tmp_path / "templates"
        number = newest(TEMPLATES)
        shutil.copytree(TEMPLATES, folder)
        shutil.copytree(folder / str(number), folder / str(number + 1))
        edit(folder / str(number + 1) / "copier.yml", (f"default: {number}", f"default: {number + 1}"))
        edit(folder / str(number + 1) / "project" / file, *replacements)
        return folder

    return make


def edit(file: Path, *replacements: tuple[str, str]) -> None:
    text = file.read_text()
    for old, new in replacements:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    file.write_text(text)


def contents(folder: Path) -> dict[str, str]:
    return {p.relative_to(folder).as_posix(): p.read_text() for p in folder.rglob("*") if p.is_file()}


def test_without_a_newer_template_nothing_changes(package: Path) -> None:
    edit(package / "src/acme_ops/first.py", ("return x * np.abs(x)", "return x * np.abs(x) * 1"))
    before = contents(package)
    assert update(package) == UNCHANGED
    assert contents(package) == before


def test_a_newer_template_replaces_what_the_author_left_alone(
    package: Path, next_template: Callable[..., Path]
) -> None:
    templates = next_template(".github/workflows/test.yml.jinja", ("checkout@v4", "checkout@v9"))
    done = update(package, templates=templates)
    assert done == Update((ANSWERS_FILE, WORKFLOW), (), (), (), ())
    assert "checkout@v9" in (package / WORKFLOW).read_text()
    assert read_answers(package)[0] == newest(templates)
    assert update(package, templates=templates) == UNCHANGED


def test_both_sides_changes_are_kept(package: Path, next_template: Callable[..., Path]) -> None:
    edit(package / WORKFLOW, ("name: test", "name: mine"))
    templates = next_template(".github/workflows/test.yml.jinja", ("checkout@v4", "checkout@v9"))
    assert update(package, templates=templates).merged == (WORKFLOW,)
    text = (package / WORKFLOW).read_text()
    assert "name: mine" in text
    assert "checkout@v9" in text


def test_the_same_lines_changed_twice_are_marked(package: Path, next_template: Callable[..., Path]) -> None:
    edit(package / WORKFLOW, ("checkout@v4", "checkout@v5"))
    templates = next_template(".github/workflows/test.yml.jinja", ("checkout@v4", "checkout@v9"))
    done = update(package, templates=templates)
    assert (done.conflicts, done.merged) == ((WORKFLOW,), ())
    text = (package / WORKFLOW).read_text()
    for line in ("<<<<<<< yours", "checkout@v5", "checkout@v9", ">>>>>>> the newest template"):
        assert line in text


def test_a_deleted_file_stays_deleted(package: Path, next_template: Callable[..., Path]) -> None:
    (package / WORKFLOW).unlink()
    templates = next_template(".github/workflows/test.yml.jinja", ("checkout@v4", "checkout@v9"))
    assert update(package, templates=templates).written == (ANSWERS_FILE,)
    assert not (package / WORKFLOW).exists()


@pytest.mark.parametrize("was_edited", [False, True])
def test_a_file_the_template_drops_goes_unless_it_was_edited(
    package: Path, next_template: Callable[..., Path], was_edited: bool
) -> None:
    templates = next_template("README.md.jinja")
    (templates / str(newest(templates)) / "project/.github/workflows/test.yml.jinja").unlink()
    if was_edited:
        edit(package / WORKFLOW, ("name: test", "name: mine"))
    done = update(package, templates=templates)
    assert (done.removed, done.kept) == (((), (WORKFLOW,)) if was_edited else ((WORKFLOW,), ()))
    assert (package / WORKFLOW).exists() == was_edited


def test_a_file_both_add_is_marked(package: Path, next_template: Callable[..., Path]) -> None:
    (package / "NOTES.md").write_text("mine\n")
    templates = next_template("README.md.jinja")
    (templates / str(newest(templates)) / "project/NOTES.md").write_text("theirs\n")
    assert update(package, templates=templates).conflicts == ("NOTES.md",)
    assert {"mine", "theirs"} <= set((package / "NOTES.md").read_text().splitlines())


def test_an_operator_is_added_beside_the_authors_own_changes(package: Path) -> None:
    edit(package / "pyproject.toml", ('version = "0.1.0"', 'version = "0.4.2"'))
    edit(package / "src/acme_ops/first.py", ("return x * np.abs(x)", "return x * np.abs(x) * 1"))
    done = update(package, [("SecondOp", "reduction")])
    assert done.conflicts == ()
    assert done.merged == ("pyproject.toml",)
    assert {"src/acme_ops/second_op.py", "tests/test_second_op.py"} <= set(done.written)
    assert "* 1" in (package / "src/acme_ops/first.py").read_text()
    text = (package / "pyproject.toml").read_text()
    assert 'version = "0.4.2"' in text
    assert 'SecondOp = "acme_ops.second_op:SecondOp"' in text
    assert read_answers(package)[1]["ops"] == "first:unary SecondOp:reduction"


ROW = "| `first` | x·\\|x\\|, the square with its sign |\n"
ENTRY = 'first = "acme_ops.first:first"\n'


def test_an_operator_is_added_next_to_what_the_author_rewrote(package: Path) -> None:
    edit(package / "README.md", (ROW, "| `first` | my words |\n"))
    done = update(package, [("second", "binary")])
    assert (done.conflicts, done.merged) == ((), ("README.md",))
    assert "| `first` | my words |\n| `second` |" in (package / "README.md").read_text()


def test_an_operator_is_added_next_to_what_the_author_added(package: Path) -> None:
    alias = ENTRY.replace("first =", "primo =")
    edit(package / "pyproject.toml", (ENTRY, ENTRY + alias))
    assert update(package, [("second", "binary")]).conflicts == ()
    assert f"{ENTRY}{alias}second = " in (package / "pyproject.toml").read_text()


def test_what_a_newer_template_adds_where_the_author_added_is_marked(
    package: Path, next_template: Callable[..., Path]
) -> None:
    edit(package / WORKFLOW, ("name: test\n", "name: test\nenv: {}\n"))
    templates = next_template(".github/workflows/test.yml.jinja", ("name: test\n", "name: test\nrun: x\n"))
    assert update(package, templates=templates).conflicts == (WORKFLOW,)
    marked = "<<<<<<< yours\nenv: {}\n=======\nrun: x\n>>>>>>> the newest template\n"
    assert marked in (package / WORKFLOW).read_text()


def test_what_both_changed_alike_is_not_between_the_marks(
    package: Path, next_template: Callable[..., Path]
) -> None:
    line = "      - uses: actions/checkout@v4\n"
    new = "      - run: first\n{}      - run: last\n"
    edit(package / WORKFLOW, (line, new.format("      - run: mine\n")))
    templates = next_template(".github/workflows/test.yml.jinja", (line, new.format("      - run: theirs\n")))
    update(package, templates=templates)
    text = (package / WORKFLOW).read_text()
    assert "      - run: first\n<<<<<<< yours\n      - run: mine\n=======\n" in text
    assert text.count("run: first") == text.count("run: last") == 1


def test_an_update_waits_until_the_author_has_chosen(
    package: Path, next_template: Callable[..., Path]
) -> None:
    edit(package / WORKFLOW, ("checkout@v4", "checkout@v5"))
    templates = next_template(".github/workflows/test.yml.jinja", ("checkout@v4", "checkout@v9"))
    update(package, templates=templates)
    before = contents(package)
    line = before[WORKFLOW].splitlines().index("<<<<<<< yours") + 1
    with pytest.raises(ScaffoldError, match=f"test.yml has lines marked .* from line {line}; choose"):
        update(package, [("second", "binary")], templates=templates)
    assert contents(package) == before


def test_another_licence_and_author_are_an_update(package: Path) -> None:
    assert "LICENSE" in update(package, licence="MIT", author="Grace").written
    assert (package / "LICENSE").read_text().startswith("MIT License")
    assert "Grace" in (package / "LICENSE").read_text()
    assert 'license = "MIT"' in (package / "pyproject.toml").read_text()


def test_a_git_repository_with_changes_is_no_obstacle(
    package: Path, next_template: Callable[..., Path]
) -> None:
    subprocess.run(["git", "init", "-q", package], check=True)
    edit(package / WORKFLOW, ("name: test", "name: mine"))
    templates = next_template(".github/workflows/test.yml.jinja", ("checkout@v4", "checkout@v9"))
    assert update(package, templates=templates).merged == (WORKFLOW,)


@pytest.mark.parametrize(
    ("ops", "message"),
    [
        ([("first", "binary")], "operator 'first' is asked for twice, or is there already"),
        ([("First", "binary")], "would both be in first.py"),
        ([("second", "unari")], "kind is 'unari'"),
    ],
)
def test_operators_that_cannot_be_added_change_nothing(
    package: Path, ops: list[tuple[str, str]], message: str
) -> None:
    before = contents(package)
    with pytest.raises(ScaffoldError, match=message):
        update(package, ops)
    assert contents(package) == before


def test_a_merge_without_git_changes_nothing(
    package: Path, next_template: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    edit(package / WORKFLOW, ("name: test", "name: mine"))
    templates = next_template(".github/workflows/test.yml.jinja", ("checkout@v4", "checkout@v9"))
    before = contents(package)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ScaffoldError, match="install git to merge"):
        update(package, templates=templates)
    assert contents(package) == before


def test_a_package_of_a_newer_sdk_is_refused(package: Path) -> None:
    edit(package / ANSWERS_FILE, (f"template: {newest(TEMPLATES)}", f"template: {newest(TEMPLATES) + 1}"))
    with pytest.raises(ScaffoldError, match="which this operad-sdk does not have; install a newer one"):
        update(package)


def test_a_package_that_was_not_made_here_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ScaffoldError, match=r"there is no \.copier-answers\.yml"):
        update(tmp_path)


@pytest.mark.parametrize("text", ["", "- a\n", "name: acme\n", "template: 1\n", "{", "\0"])
def test_a_damaged_file_of_answers_is_refused(package: Path, text: str) -> None:
    (package / ANSWERS_FILE).write_text(text)
    with pytest.raises(ScaffoldError, match="restore the file"):
        update(package)


@pytest.mark.parametrize(
    "damage",
    [
        ("name: acme-ops", "name: ../../acme"),
        ("ops: first:unary", "ops: ../first:unary"),
        ("ops: first:unary", "ops: 1"),
        ("licence: Apache-2.0", "licence: ../../x"),
        ('author: "Ada"', 'author: ""'),
        (f"template: {newest(TEMPLATES)}", "template: one"),
    ],
)
def test_a_damaged_answer_is_refused(package: Path, damage: tuple[str, str]) -> None:
    edit(package / ANSWERS_FILE, damage)
    with pytest.raises(ScaffoldError, match="restore the file"):
        update(package)


def test_templates_are_numbered_without_gaps() -> None:
    numbers = sorted(int(folder.name) for folder in TEMPLATES.iterdir())
    assert numbers == list(range(1, newest(TEMPLATES) + 1))


def test_a_template_records_its_own_number(package: Path) -> None:
    assert read_answers(package)[0] == newest(TEMPLATES)


def test_a_package_made_for_0_1_gets_the_ranges_and_extras_of_this_version(tmp_path: Path) -> None:
    package = tmp_path / "acme-ops"
    answers = {"name": "acme-ops", "ops": "first:unary", "licence": "MIT", "author": "Ada", "year": 2026}
    render(TEMPLATES, 1, answers, package)
    edit(
        package / "pyproject.toml",
        ('version = "0.1.0"', 'version = "0.4.2"'),
        ('name = "acme-ops"\n', 'name = "acme-ops"\nkeywords = ["mine"]\n'),
    )

    assert update(package).conflicts == ()

    project = tomllib.loads((package / "pyproject.toml").read_text())["project"]
    major, minor = map(int, version("operad").split(".")[:2])
    ours = f">={major}.{minor},<{major}.{minor + 1}"
    assert project["dependencies"] == [f"operad{ours}", f"operad-sdk{ours}", "numpy>=2.2.5,<3"]
    assert project["optional-dependencies"]["test"][0] == f"operad-sdk[check,fast]{ours}"
    assert (project["version"], project["keywords"]) == ("0.4.2", ["mine"])


def test_a_package_of_each_older_template_is_brought_along_and_gets_kinds_that_it_did_not_have(
    tmp_path: Path,
) -> None:
    for number in range(1, newest(TEMPLATES)):
        package = tmp_path / f"made-by-{number}"
        answers = {"name": "acme-ops", "ops": "first:unary", "licence": "MIT", "author": "Ada", "year": 2026}
        render(TEMPLATES, number, answers, package)
        assert update(package).conflicts == ()
        assert update(package, [("Second", "loss"), ("third", "cpp-port")]).conflicts == ()
        fresh = tmp_path / f"fresh-{number}"
        render(TEMPLATES, newest(TEMPLATES), {**read_answers(package)[1]}, fresh)
        assert contents(package) == contents(fresh)
