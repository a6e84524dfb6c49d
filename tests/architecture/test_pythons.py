"""The parts of `make test-pythons`: which interpreters, which packages, what a run is reported as."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tools import pythons
from tools.pythons import Interpreter, Outcome
from tools.workspace import Distribution


@pytest.fixture
def program(tmp_path: Path) -> Callable[..., Path]:
    """Writes a program that stands for an interpreter."""

    def write(name: str, *lines: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(["#!/bin/sh", *lines, ""]))
        path.chmod(0o755)
        return path

    return write


def test_programs_on_path_come_before_those_of_pyenv(program: Callable[..., Path], tmp_path: Path) -> None:
    for name in ("late/python3.12", "early/python3", "pyenv/versions/3.13.0/bin/python3.13"):
        program(name)
    for name in ("early/python3-config", "early/python3.13t", "early/python2.7", "early/python3.12-gdb.py"):
        program(name)
    environ = {"PATH": f"{tmp_path}/early::{tmp_path}/late", "PYENV_ROOT": f"{tmp_path}/pyenv"}

    found = [path.relative_to(tmp_path).as_posix() for path in pythons.candidates(environ)]

    assert found == ["early/python3", "late/python3.12", "pyenv/versions/3.13.0/bin/python3.13"]


def test_pyenv_is_looked_for_at_home(program: Callable[..., Path], tmp_path: Path) -> None:
    path = program(".pyenv/versions/3.13.0/bin/python3")
    assert pythons.candidates({"HOME": str(tmp_path)}) == [path]


def test_an_interpreter_says_its_version() -> None:
    assert pythons.asked(Path(sys.executable)) == Interpreter(
        Path(sys.executable), tuple(sys.version_info[:3])
    )


@pytest.mark.parametrize("line", ["exit 127", "echo null", "echo '[3, 12, 1]'; exit 1"])
def test_what_cannot_make_an_environment_is_no_interpreter(program: Callable[..., Path], line: str) -> None:
    assert pythons.asked(program("python3", line)) is None


def test_a_path_without_a_program_is_no_interpreter(tmp_path: Path) -> None:
    assert pythons.asked(tmp_path / "python3") is None


def test_the_newest_release_of_each_minor_version_is_chosen() -> None:
    versions = [(3, 13, 0), (3, 12, 9), (3, 10, 13), (3, 12, 10), (3, 11, 2), (3, 12, 10)]
    found = [Interpreter(Path(f"/{number}/python3"), version) for number, version in enumerate(versions)]

    assert [each.path.parts[1] for each in pythons.chosen(found)] == ["4", "3", "0"]


def test_the_highest_lower_bound_of_each_package_holds_for_all_together() -> None:
    declared = [
        {"name": "operad", "dependencies": ["numpy>=2.9,<3", "PyYAML>=6,<7"]},
        {"name": "b", "optional-dependencies": {"fast": ["operad[cli]>=0.2,<0.3", "numpy>=2.10,<3"]}},
        {"name": "c", "optional-dependencies": {"gpu": ["cupy>=13.3,<15"]}},
    ]
    found = [Distribution(Path("any"), {"project": project}) for project in declared]
    tools = ["pyyaml>=6.1,<7", "numpy>=2.3,<3", "mypy>=1.13,<3"]

    assert pythons.lower_bounds(found, tools) == {"numpy": "2.10", "pyyaml": "6.1"}


def test_a_requirement_without_a_lower_bound_is_refused() -> None:
    project = {"name": "a", "dependencies": ["numpy<3"]}
    with pytest.raises(SystemExit, match="'numpy<3' has no lower bound"):
        pythons.lower_bounds([Distribution(Path("any"), {"project": project})])


LISTING = """\
numpy (2.10.0)
Available versions: 2.10.0, 2.10.0rc1, 2.2.0, 2.1.10, 2.1.2, 2.1.0, 2.1.0.post1, 2.0.2, 1.26.4
  INSTALLED: 2.10.0
"""


def test_releases_are_tried_from_the_bound_on() -> None:
    assert pythons.from_oldest(LISTING, "2.1") == ["2.1.0", "2.1.2", "2.1.10", "2.2.0", "2.10.0"]


def test_the_oldest_release_is_the_first_that_has_a_wheel(program: Callable[..., Path]) -> None:
    answers = f"case $* in *index*) echo '{LISTING}';; *==2.1.*) exit 1;; esac"
    assert pythons.oldest(program("python3", answers), "numpy", "2.1") == "2.2.0"


@pytest.mark.parametrize(
    ("line", "said"),
    [(f"case $* in *index*) echo '{LISTING}';; *) exit 1;; esac", "no wheel"), ("exit 1", "cannot list")],
)
def test_without_any_wheel_pip_is_named(program: Callable[..., Path], line: str, said: str) -> None:
    with pytest.raises(SystemExit, match=said):
        pythons.oldest(program("python3", line), "numpy", "2.1")


def test_a_run_keeps_the_closing_line_and_the_status(capsys: pytest.CaptureFixture[str]) -> None:
    lines = "print('first'); print('=== 1 failed, 2 passed in 3.00s ==='); print(); raise SystemExit(1)"
    done = pythons.run("Python 3.12.1", [sys.executable, "-c", lines])

    assert done == Outcome("Python 3.12.1", "1 failed, 2 passed in 3.00s", 1)
    assert capsys.readouterr().out.startswith("== Python 3.12.1\nfirst\n")


@pytest.mark.parametrize(("status", "end"), [(0, "2 passed"), (1, "2 passed (exit 1)")])
def test_one_run_that_failed_fails_all(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], status: int, end: str
) -> None:
    def outcomes(interpreter: Interpreter, which: list[str], words: Sequence[str]) -> list[Outcome]:
        assert which == ["newest", "plain"]
        assert words == ["--numprocesses", "2", "core/tests"]
        return [Outcome(interpreter.release, "2 passed", status), Outcome("last", "3 passed", 0)]

    monkeypatch.setattr(pythons, "outcomes", outcomes)
    words = ["--python", sys.executable, "--packages", "newest,plain", "--numprocesses", "2", "core/tests"]
    done = pythons.main(words)

    release = ".".join(map(str, sys.version_info[:3]))
    assert done == status
    assert capsys.readouterr().out.splitlines()[-2:] == [f"{release}: {end}", "last: 3 passed"]


def test_an_interpreter_that_is_not_there_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        pythons.main(["--python", "/nowhere/python3"])
    assert (
        "no Python from 3.11 on that can make an environment was found at /nowhere" in capsys.readouterr().err
    )


def test_the_suite_runs_with_the_newest_packages_then_with_the_oldest(
    monkeypatch: pytest.MonkeyPatch, program: Callable[..., Path]
) -> None:
    made: list[tuple[str, list[str]]] = []

    def environment(interpreter: Interpreter, which: str, pins: Sequence[str] = ()) -> Path:
        made.append((which, list(pins)))
        return program(which, "case $* in *version*) echo 2.9.9;; *) echo $3 passed;; esac")

    monkeypatch.setattr(pythons, "environment", environment)
    monkeypatch.setattr(pythons, "oldest", lambda python, name, bound: f"{bound}.0")
    monkeypatch.setattr(pythons, "lower_bounds", lambda found, tools: {"numpy": "2.1", "numba": "0.9"})
    done = list(pythons.outcomes(Interpreter(Path("/python3"), (3, 12, 1)), ["newest", "oldest"], ["core"]))

    assert made == [("newest", []), ("oldest", ["numpy==2.1.0", "numba==0.9.0"])]
    assert done == [
        Outcome("Python 3.12.1, newest packages, NumPy 2.9.9", "core passed", 0),
        Outcome("Python 3.12.1, oldest packages, NumPy 2.9.9", "core passed", 0),
    ]


def test_what_an_install_may_lack_is_taken_away(
    monkeypatch: pytest.MonkeyPatch, program: Callable[..., Path], tmp_path: Path
) -> None:
    log = tmp_path / "log"
    line = f"case $* in *uninstall*) echo $* >> {log};; *version*) echo 2.9.9;; *) echo passed;; esac"
    monkeypatch.setattr(pythons, "environment", lambda interpreter, which: program(which, line))
    done = list(pythons.outcomes(Interpreter(Path("/python3"), (3, 12, 1)), ["vector", "plain"], ["core"]))

    assert [outcome.title.split(", ")[1] for outcome in done] == ["vector packages", "plain packages"]
    taken = [words.partition("uninstall -y ")[2] for words in log.read_text().splitlines()]
    assert taken == ["numba", "numba llvmlite"]


def test_packages_of_another_name_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        pythons.main(["--packages", "oldest,small"])
    assert "--packages small: expected some of" in capsys.readouterr().err


def test_an_environment_that_cannot_be_made_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> Path:
        raise SystemExit("pip install exited with 1")

    monkeypatch.setattr(pythons, "environment", refused)
    done = list(pythons.outcomes(Interpreter(Path("/python3"), (3, 12, 1)), [], []))

    assert done == [Outcome("Python 3.12.1", "no environment: pip install exited with 1", 1)]
