from __future__ import annotations

import os
import pty
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from operad_check.new import KINDS, LICENCES, ScaffoldError, create
from operad_check.new.render import TEMPLATES

OTHERS = {"kernel-for": "FullyConnected"}
"""Names of installed operators, for kinds that are about one."""
AUTHOR = 'Ada "Ö" O\'Lovelace 𝒜'


def contents(folder: Path) -> dict[str, str]:
    return {p.relative_to(folder).as_posix(): p.read_text() for p in folder.rglob("*") if p.is_file()}


def test_a_package_has_all_its_parts(tmp_path: Path) -> None:
    files = create(tmp_path / "acme", "acme-losses", [("RowNorm", "property")], author=AUTHOR)
    assert [file.relative_to(tmp_path / "acme").as_posix() for file in files] == [
        ".github/workflows/test.yml",
        ".gitignore",
        "LICENSE",
        "README.md",
        "benchmarks/bench_acme_losses.py",
        "pyproject.toml",
        "src/acme_losses/__init__.py",
        "src/acme_losses/py.typed",
        "src/acme_losses/row_norm.py",
        "tests/test_contract.py",
        "tests/test_examples.py",
        "tests/test_row_norm.py",
    ]


def test_nothing_of_the_template_is_left_over(tmp_path: Path) -> None:
    create(
        tmp_path / "acme",
        ops=[(OTHERS.get(kind, f"{kind.replace('-', '_')}_op"), kind) for kind in KINDS],
        author=AUTHOR,
    )
    for name, text in contents(tmp_path / "acme").items():
        for mark in ("{%", "{#", "{{ op", "{{ package", "{{ name", "jinja"):
            assert mark not in name + text, name


def test_entry_points_name_each_operator(tmp_path: Path) -> None:
    create(tmp_path / "acme", "acme-ops", [("_AbsMax", "unary"), ("sum", "reduction")], author=AUTHOR)
    project = tomllib.loads((tmp_path / "acme/pyproject.toml").read_text())["project"]
    assert project["entry-points"]["operad.operators"] == {
        "_AbsMax": "acme_ops.abs_max:AbsMax",
        "sum": "acme_ops.sum:sum_",
    }


def test_ranges_admit_the_core_and_the_sdk_of_this_workspace(tmp_path: Path) -> None:
    create(tmp_path / "acme", "acme-ops", [("f", "unary")], author=AUTHOR)
    made = tomllib.loads((tmp_path / "acme/pyproject.toml").read_text())["project"]
    own = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    sdk = next(line for line in own["dependencies"] if line.startswith("operad-sdk>"))
    assert {sdk, sdk.replace("operad-sdk", "operad")} <= set(made["dependencies"])
    wanted = {sdk.replace("operad-sdk", name) for name in ("operad-check", "operad-sdk[fast]")}
    assert wanted <= set(made["optional-dependencies"]["test"])


def test_a_kernel_for_another_operator_requires_that_and_names_its_arrays(tmp_path: Path) -> None:
    create(tmp_path / "acme", "acme-fast", [("FullyConnected", "kernel-for")], author=AUTHOR)
    project = tomllib.loads((tmp_path / "acme/pyproject.toml").read_text())["project"]
    assert project["entry-points"] == {
        "operad.kernels": {"FullyConnected.small": "acme_fast.fully_connected:small"}
    }
    own = next(line for line in project["dependencies"] if line.startswith("operad>"))
    assert own.replace("operad", "operad-fully-connected") in project["dependencies"]
    text = (tmp_path / "acme/src/acme_fast/fully_connected.py").read_text()
    for line in ("data: Array,", "weight: Array,", "bias: Array | None,", "output: Array,"):
        assert line in text


def test_kernels_and_operators_stand_in_one_package(tmp_path: Path) -> None:
    ops = [
        ("mine", "unary"),
        ("FullyConnected", "kernel-for"),
        ("LRN", "kernel-for"),
        ("Pooling", "kernel-for"),
    ]
    create(tmp_path / "acme", "acme-fast", ops, author=AUTHOR)
    project = tomllib.loads((tmp_path / "acme/pyproject.toml").read_text())["project"]
    assert list(project["entry-points"]["operad.operators"]) == ["mine"]
    assert list(project["entry-points"]["operad.kernels"]) == [f"{name}.small" for name, _ in ops[1:]]
    for words in (["check"], ["format", "--check"]):
        command = [sys.executable, "-m", "ruff", *words, "--no-cache", str(tmp_path / "acme")]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("licence", LICENCES)
def test_the_licence_is_the_chosen_one_and_names_the_author(tmp_path: Path, licence: str) -> None:
    create(tmp_path / "acme", ops=[("f", "unary")], licence=licence, author=AUTHOR)
    project = tomllib.loads((tmp_path / "acme/pyproject.toml").read_text())["project"]
    assert project["license"] == ("LicenseRef-Proprietary" if licence == "proprietary" else licence)
    is_private = "Private :: Do Not Upload" in project["classifiers"]  # keeps it off public indexes
    assert is_private == (licence == "proprietary")
    assert project["authors"] == [{"name": AUTHOR}]
    assert AUTHOR in (tmp_path / "acme/LICENSE").read_text()


def test_no_path_of_this_machine_is_written(tmp_path: Path) -> None:
    create(tmp_path / "acme", ops=[("f", "unary")], author=AUTHOR)
    for name, text in contents(tmp_path / "acme").items():
        assert str(tmp_path) not in text, name
        assert str(TEMPLATES) not in text, name


def test_names_of_any_length_and_names_already_taken_stay_clean(tmp_path: Path) -> None:
    names = {kind: f"{kind.replace('-', '_')}_{'x' * (39 - len(kind))}" for kind in KINDS} | OTHERS
    ops = [(name, kind) for kind, name in names.items()]
    ops += [("abs", "mapper"), ("np", "unary"), ("param", "property"), ("Sequence", "reduction")]
    ops += [("OpContext", "random"), ("KernelCall", "kernel"), ("Any", "loss")]
    create(tmp_path / "acme", "a" * 40, ops, author=AUTHOR)
    for words in (["check"], ["format", "--check"]):
        command = [sys.executable, "-m", "ruff", *words, "--no-cache", str(tmp_path / "acme")]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr


def test_the_folder_gives_the_name(tmp_path: Path) -> None:
    create(tmp_path / "Acme_Ops", ops=[("f", "unary")], author=AUTHOR)
    assert 'name = "acme-ops"' in (tmp_path / "Acme_Ops/pyproject.toml").read_text()


def test_a_package_that_is_there_already_is_for_an_addition(tmp_path: Path) -> None:
    create(tmp_path / "acme-ops", ops=[("f", "unary")], author=AUTHOR)
    with pytest.raises(ScaffoldError, match="--add puts operators into it"):
        create(tmp_path / "acme-ops", ops=[("g", "unary")], author=AUTHOR)


def test_a_folder_that_holds_something_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(ScaffoldError, match="something is there already"):
        create(tmp_path, "acme", [("f", "unary")])
    assert contents(tmp_path) == {"mine.txt": "mine"}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"ops": []}, "no operator was asked for"),
        ({"ops": [("f", "unari")]}, "kind is 'unari'"),
        ({"ops": [("fully_conected", "kernel-for")]}, "no installed plugin provides"),
        ({"ops": [("BatchNorm", "kernel-for")]}, "write one by hand"),
        ({"ops": [("Concat", "kernel-for")]}, "write one by hand"),
        ({"licence": "GPL"}, "licence is 'GPL', expected one of Apache-2.0, MIT"),
        ({"author": "Ada\nLovelace"}, "expected a name on one line"),
        ({"name": "operad"}, "would hide another"),
    ],
)
def test_a_wrong_answer_makes_nothing(tmp_path: Path, wrong: dict[str, object], message: str) -> None:
    answers: dict[str, object] = {"name": "acme", "ops": [("f", "unary")], **wrong}
    with pytest.raises(ScaffoldError, match=message):
        create(tmp_path / "acme", **answers)  # type: ignore[arg-type]
    assert not (tmp_path / "acme").exists()


def test_git_is_not_needed(tmp_path: Path) -> None:
    program = "import sys; from operad_check.new import create; create(sys.argv[1], ops=[('f', 'unary')])"
    command = [sys.executable, "-c", program, str(tmp_path / "acme")]
    subprocess.run(command, check=True, env={**os.environ, "PATH": str(tmp_path)})
    assert (tmp_path / "acme/src/acme/f.py").is_file()


def test_what_is_left_out_is_asked_for(tmp_path: Path) -> None:
    program = "import sys; from operad_check.new import create; create(sys.argv[1], author='Ada', ask=True)"
    command = [sys.executable, "-c", program, str(tmp_path / "acme")]
    terminal, inside = pty.openpty()
    env = {**os.environ, "PROMPT_TOOLKIT_NO_CPR": "1"}  # no terminal here answers where its cursor is
    with subprocess.Popen(command, stdin=inside, stdout=inside, stderr=inside, env=env) as process:
        os.close(inside)
        shown = ""
        for question, answer in [
            ("What pip shall call it", "\r"),
            ("Operators, separated", "f:unary G:reduction\r"),
            ("The licence", "\x1b[B\r"),  # the next in the list
            ("first year", "\r"),
        ]:
            while question not in shown:
                shown += os.read(terminal, 65536).decode(errors="replace")
            shown = ""
            os.write(terminal, answer.encode())
        assert process.wait(timeout=60) == 0
    os.close(terminal)
    project = tomllib.loads((tmp_path / "acme/pyproject.toml").read_text())["project"]
    assert (project["name"], project["license"]) == ("acme", "MIT")
    assert list(project["entry-points"]["operad.operators"]) == ["f", "G"]
