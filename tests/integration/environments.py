"""Clean environments: a virtual environment that holds what a distribution declares, and no more.

The workspace's own wheels are really installed and uninstalled by pip, which resolves their version
ranges without an index. Third-party libraries are not installed a second time: those in the closure
of the declared requirements, and only those, are linked from the environment that runs the tests.
So an import of something undeclared fails here as it would for a stranger, in a second instead of
a minute.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterable
from importlib.metadata import Distribution as Installed
from importlib.metadata import distribution as installed
from importlib.util import find_spec
from pathlib import Path
from typing import Final, final

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tools.workspace import ROOT, Distribution, distributions, lacking, requirements

# A folder that is still being written is for tests/architecture to complain of.
_FOUND = distributions()
COMPLETE = [d for d in _FOUND if not lacking(d, _FOUND)]

MAY_LACK: Final = {"numba": "fast", "llvmlite": "vector"}
"""Libraries that installations may lack, with the extra of `operad-sdk` that brings each."""

_BUILD = """
import os, sys
from hatchling.build import build_wheel
target, *folders = sys.argv[1:]
for folder in folders:
    os.chdir(folder)
    print(os.path.join(target, build_wheel(target)))
"""


def build_wheels(target: Path) -> dict[str, Path]:
    """Build the wheel of every distribution into `target`; returns the files by distribution name."""
    command = [sys.executable, "-c", _BUILD, str(target), *(str(d.folder) for d in COMPLETE)]
    lines = _output(command).splitlines()
    return {d.name: Path(line) for d, line in zip(COMPLETE, lines, strict=True)}


def copy_tests(chosen: Iterable[Distribution], target: Path) -> Path:
    """A checkout at `target` with the tests of the chosen distributions and the tools, and no sources."""
    target.mkdir()
    for name in ("pyproject.toml", "conftest.py"):
        shutil.copy(ROOT / name, target)
    shutil.copytree(ROOT / "tools", target / "tools", ignore=shutil.ignore_patterns("__pycache__"))
    for distribution in chosen:
        folder = distribution.folder.relative_to(ROOT)
        shutil.copytree(distribution.folder, target / folder, ignore=shutil.ignore_patterns("src"))
    return target


@final
class CleanEnvironment:
    """A virtual environment of its own.

    Args:
        folder: Where it is made.
        wheelhouse: Folder of wheels that `install` may take distributions from.
    """

    def __init__(self, folder: Path, wheelhouse: Path) -> None:
        venv.EnvBuilder(symlinks=True).create(folder)
        self.python = folder / "bin" / "python"
        self._wheelhouse = wheelhouse
        self._libraries = folder / "third-party"
        self._libraries.mkdir()
        (site,) = folder.glob("lib/python*/site-packages")
        (site / "third-party.pth").write_text(f"{self._libraries}\n")

    def install(self, *wanted: str) -> None:
        """Install distributions of the workspace, such as `operad[cli]`, and what they declare."""
        self.add_libraries(third_party(wanted))
        self._pip("install", "--no-index", "--find-links", str(self._wheelhouse), *wanted)

    def install_from(self, index: Path, *wanted: str) -> None:
        """Install distributions of the workspace from an index of their own, and from nowhere else."""
        self.add_libraries(third_party(wanted))
        settings = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
        self._pip(
            "install", "--index-url", index.as_uri(), *wanted, env=settings | {"PIP_CONFIG_FILE": os.devnull}
        )

    def install_project(self, folder: Path, extra: str) -> None:
        """Install a project outside the workspace in place, as its author does, with one of its extras.

        What it requires from outside the workspace has to be there: see `add_libraries`.
        """
        options = ["--no-index", "--find-links", str(self._wheelhouse), "--no-build-isolation"]
        self._pip("install", *options, "--editable", f"{folder}[{extra}]")

    def uninstall(self, name: str) -> None:
        """Uninstall one distribution of the workspace."""
        self._pip("uninstall", "--yes", name)

    def add_libraries(self, names: Iterable[str]) -> None:
        """Make third-party libraries, and what these require, importable, and their programs found.

        The test is skipped where one is not installed that installations may lack.
        """
        names = set(names)
        for name in sorted(names & left_out()):
            pytest.skip(f"needs {name}: pip install operad-sdk[{MAY_LACK[name]}]")
        for library in _closure(names):
            links = {self._libraries / entry: entry for entry in _top_level(library)}
            links |= {self.python.parent / Path(program).name: program for program in _programs(library)}
            for link, target in links.items():
                if not link.exists():
                    link.symlink_to(Path(str(library.locate_file(target))))

    def run(self, program: str) -> str:
        """Run a Python program; returns what it printed."""
        return self.execute("-c", program)

    def execute(self, *words: str, cwd: Path | None = None) -> str:
        """Run this environment's Python with `words`; returns what it printed.

        Hypothesis keeps to its short profile: the long ones are for the suite that runs this.
        """
        return _output([str(self.python), "-I", *words], cwd, {**os.environ, "HYPOTHESIS_PROFILE": "dev"})

    def size_bytes(self) -> int:
        """What was installed takes on disk, libraries included and byte code left out."""
        top = [self.python.parent.parent / "lib", *self._libraries.iterdir()]
        files = [file for path in top for file in ([path] if path.is_file() else path.resolve().rglob("*"))]
        return sum(file.stat().st_size for file in files if file.suffix != ".pyc" and file.is_file())

    def _pip(self, *words: str, env: dict[str, str] | None = None) -> None:
        pip = [sys.executable, "-m", "pip", "--python", str(self.python), "--disable-pip-version-check"]
        _output([*pip, *words], env=env)


def for_testing() -> set[str]:
    """What all tests of the workspace need from outside of it."""
    extras = (Requirement(d.with_extras().replace(str(d.folder), d.name)) for d in COMPLETE)
    tools = [*requirements("test"), *requirements("check")]  # mypy reads the stubs that a test writes
    return (third_party(map(str, extras)) | {Requirement(line).name for line in tools}) - left_out()


def left_out() -> set[str]:
    """Libraries that this Python lacks as installations may: `make test-installs`."""
    return {name for name in MAY_LACK if find_spec(name) is None}


def third_party(wanted: Iterable[str]) -> set[str]:
    """What distributions of the workspace, written as `operad-sdk[fast]`, require from outside of it."""
    return _required(wanted)[1]


def of_the_workspace(wanted: Iterable[str]) -> list[Distribution]:
    """Distributions of the workspace, written as `operad-sdk[fast]`, and those that they require."""
    names = _required(wanted)[0]
    return [each for each in COMPLETE if each.name in names]


def _required(wanted: Iterable[str]) -> tuple[set[str], set[str]]:
    """Names of what is required, directly or not: of the workspace, and from outside of it."""
    own = {d.name: d.declared["project"] for d in COMPLETE}
    found: set[str] = set()
    waiting, seen = [Requirement(line) for line in wanted], set[tuple[str, str]]()
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        if name not in own:
            found.add(name)
            continue
        for extra in {"", *requirement.extras} - {extra for known, extra in seen if known == name}:
            seen.add((name, extra))
            lines = own[name]["optional-dependencies"][extra] if extra else own[name].get("dependencies", [])
            waiting += map(Requirement, lines)
    return {name for name, _ in seen}, found


def _closure(names: Iterable[str]) -> list[Installed]:
    found: dict[str, Installed] = {}
    waiting = [canonicalize_name(name) for name in names]
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found[name] = installed(name)
        required = map(Requirement, found[name].requires or [])
        wanted = (r for r in required if r.marker is None or r.marker.evaluate({"extra": ""}))
        waiting += [canonicalize_name(requirement.name) for requirement in wanted]
    return list(found.values())


def _top_level(library: Installed) -> set[str]:
    parts = {file.parts[0] for file in library.files or []}
    return parts - {"..", "__pycache__"}


def _programs(library: Installed) -> set[str]:
    """Compiled programs, as ruff's. A script is none: it names the Python that it was installed for."""
    found = [file for file in library.files or [] if file.parts[0] == ".." and file.parent.name == "bin"]
    return {str(file) for file in found if not file.read_binary().startswith(b"#!")}


def _output(command: list[str], cwd: Path | None = None, env: dict[str, str] | None = None) -> str:
    __tracebackhide__ = True  # a failure shows what the command said, not the environment's variables
    done = subprocess.run(command, check=False, cwd=cwd, env=env, capture_output=True, text=True)
    assert done.returncode == 0, f"{command} exited with {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout
