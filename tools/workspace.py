"""The workspace: which distributions it holds, and how its `.venv` is made.

Run as a script (`python -m tools.workspace`) it sets up `.venv` in the checkout: the development tools of
the root `pyproject.toml`, then every distribution in place (editable), and then further dependency groups
that are named. It needs nothing but the standard library. A stamp in `.venv` records what each distribution
declared when it was installed, so that a second run does nothing, a changed `pyproject.toml` reinstalls that
one distribution, and a deleted folder is uninstalled.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any, final

ROOT = Path(__file__).resolve().parent.parent
CORE_FOLDERS = ("core", "operator_sdk/sdk", "operator_sdk/check")
PLUGIN_FOLDERS = ("plugins", "contrib_ops")
LEFT_EXTRAS = frozenset(("gpu", "jax", "torch"))
"""Extras that no set-up installs: for devices that few machines have, or very large for few tests."""

_NAME = re.compile(r"[\w.-]+")

_LISTED = 8
"""Number of distributions from which on they are counted, not listed."""

_NO_ENSUREPIP = """\
cannot make {venv}: this Python comes without ensurepip.
On Debian and Ubuntu install the package python3-venv, or name another Python: make PYTHON=python3.12"""


@final
@dataclass(frozen=True, slots=True)
class Distribution:
    """One folder that builds one wheel.

    Attributes:
        folder: Where its `pyproject.toml` is.
        declared: That file, read.
    """

    folder: Path
    declared: dict[str, Any]

    @property
    def name(self) -> str:
        """Name for pip, for example `operad-elemwise`."""
        return str(self.declared["project"]["name"])

    @property
    def package(self) -> str:
        """Name for Python's `import`, for example `operad_elemwise`."""
        return self.name.replace("-", "_")

    @property
    def is_plugin(self) -> bool:
        """True if the distribution is a guest: neither the core nor the toolkit."""
        return self.folder.parent.name in PLUGIN_FOLDERS

    @property
    def is_meta(self) -> bool:
        """True if the distribution only requires others, as `operad-standard` does."""
        return self.is_plugin and not self.declared["project"].get("entry-points")

    def entry_points(self, group: str) -> dict[str, str]:
        """The entry points it declares in `group`, by name."""
        points: dict[str, str] = self.declared["project"].get("entry-points", {}).get(group, {})
        return points

    def missing(self) -> list[str]:
        """Files that it still lacks to be built: a half-written folder does not have them yet."""
        readme = str(self.declared["project"].get("readme", "README.md"))
        return [name for name in (readme, f"src/{self.package}") if not (self.folder / name).exists()]

    def siblings(self) -> set[str]:
        """The distributions of operad that it requires, by name."""
        names = (_NAME.match(line) for line in self.declared["project"].get("dependencies", []))
        return {name[0] for name in names if name and name[0].partition("-")[0] == "operad"}

    def with_extras(self) -> str:
        """Its folder with every extra that a set-up installs, as pip takes it: `core[plot]`."""
        extras = self.declared["project"].get("optional-dependencies", {}).keys() - LEFT_EXTRAS
        return f"{self.folder}[{','.join(sorted(extras))}]" if extras else str(self.folder)


def distributions(root: Path = ROOT) -> list[Distribution]:
    """Every distribution under `root`: core, toolkit, then plugins and contributed operators by folder."""
    folders = [root / name for name in CORE_FOLDERS]
    for group in PLUGIN_FOLDERS:
        folders += sorted(path for path in (root / group).glob("*") if path.is_dir())
    files = [folder / "pyproject.toml" for folder in folders]
    return [Distribution(file.parent, tomllib.loads(file.read_text())) for file in files if file.is_file()]


def lacking(distribution: Distribution, found: Iterable[Distribution]) -> list[str]:
    """Files and distributions that `distribution` lacks to be installed from the checkout that holds `found`.

    Its own files, and distributions that it requires: a deleted plugin takes along those that need it.
    """
    there = {d.name for d in found if not d.missing()}
    return [*distribution.missing(), *sorted(distribution.siblings() - there)]


def requirements(group: str, root: Path = ROOT) -> list[str]:
    """The requirements of a dependency group of the root `pyproject.toml`.

    Source: PEP 735. Read here because pip before 25.1 does not know dependency groups.
    """
    groups = tomllib.loads((root / "pyproject.toml").read_text())["dependency-groups"]
    found: list[str] = []
    for item in groups[group]:
        found += [item] if isinstance(item, str) else requirements(item["include-group"], root)
    return found


@final
class Environment:
    """A virtual environment that holds the distributions of a checkout in place.

    Args:
        root: The checkout.
        folder: Where in it the environment is made.
        host: The Python that makes it.
        pins: Requirements besides what the distributions declare, such as `numpy==2.1.0`.
    """

    def __init__(
        self, root: Path, folder: str = ".venv", host: str = sys.executable, pins: Sequence[str] = ()
    ) -> None:
        self._root = root
        self._folder = root / folder
        self._host = host
        self._pins = pins
        self._stamp = self._folder / "operad-workspace.json"
        self.python = self._folder / "bin" / "python"
        self._pip_script = self._folder / "bin" / "pip"
        found = distributions(root)
        # A folder someone is still writing must not stop work on the others; the tests are stricter.
        self._complete = [d for d in found if not lacking(d, found)]
        self._left_out = {d.folder: lacks for d in found if (lacks := lacking(d, found))}

    def update(self) -> None:
        """Bring the environment in line with the checkout; do nothing where it is."""
        for folder, lacks in self._left_out.items():
            _say(f"leaving out {folder}: it has no {' and no '.join(lacks)}")
        if self._is_current():
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        with self._lock():
            if not self._is_current():
                self._install()

    def add_group(self, group: str) -> None:
        """Install a dependency group that not everyone needs; pip does nothing where it is there."""
        with self._lock():
            self._pip("install", *requirements(group, self._root))

    def _wanted(self) -> dict[str, str]:
        wanted = {"": _digest("\n".join([*requirements("dev", self._root), *self._pins]))}
        for distribution in self._complete:
            wanted[distribution.name] = _digest((distribution.folder / "pyproject.toml").read_text())
        return wanted

    def _installed(self) -> dict[str, str]:
        if not self.python.exists() or not self._stamp.exists():
            return {}
        installed: dict[str, str] = json.loads(self._stamp.read_text())
        return installed

    def _is_current(self) -> bool:
        return self._installed() == self._wanted()

    def _install(self) -> None:
        if not self._pip_script.exists():  # also where an interrupted run left half an environment
            self._create()
        wanted, installed = self._wanted(), self._installed()
        if wanted[""] != installed.get(""):
            _say("installing the development tools (half a minute or more, once)")
            self._pip("install", *requirements("dev", self._root), *self._pins)
        changed = [d for d in self._complete if wanted[d.name] != installed.get(d.name)]
        if changed:
            names = (
                ", ".join(d.name for d in changed)
                if len(changed) < _LISTED
                else f"{len(changed)} distributions"
            )
            _say(f"installing in place: {names} (half a second each)")
            editable = [word for d in _required_first(changed) for word in ("--editable", d.with_extras())]
            self._pip("install", "--no-build-isolation", *editable, *self._pins)
        gone = sorted(installed.keys() - wanted.keys())
        if gone:
            _say(f"uninstalling {', '.join(gone)}")
            self._pip("uninstall", "--yes", *gone)
        self._stamp.write_text(json.dumps(wanted, indent=1))

    def _create(self) -> None:
        _say(f"making {self._folder} with {self._host}")
        made = subprocess.run([self._host, "-m", "venv", self._folder], check=False, capture_output=True)
        if made.returncode != 0:
            if b"ensurepip" in made.stdout + made.stderr:
                raise SystemExit(_NO_ENSUREPIP.format(venv=self._folder))
            raise SystemExit(made.stderr.decode() or made.stdout.decode())

    def _pip(self, *words: str) -> None:
        # Twice quiet: errors only. Byte code waits for first import: compiling all of it was 17 of 46 s.
        quiet = ["--quiet", "--quiet", "--disable-pip-version-check"]
        options = ["--no-compile"] if words[0] == "install" else []
        command = [str(self.python), "-m", "pip", *quiet, words[0], *options, *words[1:]]
        status = subprocess.run(command, check=False, cwd=self._root).returncode
        if status != 0:
            raise SystemExit(f"setting up {self._folder} failed: pip {words[0]} exited with {status}")

    @contextmanager
    def _lock(self) -> Iterator[None]:
        # Two `make` runs in one checkout would otherwise install over each other.
        with (self._folder / "operad-workspace.lock").open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield


def _required_first(found: Sequence[Distribution]) -> list[Distribution]:
    """Each after those that it requires: of a folder with extras pip knows the plain name late."""
    by_name = {each.name: each for each in found}
    graph = {each.name: sorted(each.siblings() & by_name.keys()) for each in found}
    return [by_name[name] for name in TopologicalSorter(graph).static_order()]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _say(text: str) -> None:
    print(f"operad: {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    environment = Environment(ROOT)
    environment.update()
    for name in sys.argv[1:]:
        environment.add_group(name)
