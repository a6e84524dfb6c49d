"""The suite on every Python that the machine has, with the newest and with the oldest dependencies.

`python -m tools.pythons [--python WORD] [--packages WORDS] [pytest's words]`, or `make test-pythons` and
`make test-installs`. Interpreters are looked for on PATH and in pyenv; of each minor version from 3.11 on the
newest release is taken. Each gets environments under `build/pythons/`, made as `make setup` makes `.venv`:

* newest: the newest packages that pip finds for all distributions together, with their extras and the
  development tools. So numba's ceiling of NumPy, which the extra `fast` brings, holds.
* oldest: of each package that distributions require, the first release that their lower bounds allow
  and that has a wheel for this Python. What only these packages or the development tools require is
  the newest that goes with them. Bounds that no installation can meet together are a failure.
* vector: as newest, without numba, as `operad-standard` installs.
* plain: without numba and llvmlite, as single families of operators.

An environment that stands is kept, and its packages with it: remove its folder to have pip ask again.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import final

from tools.workspace import LEFT_EXTRAS, ROOT, Distribution, Environment, distributions, requirements

FIRST = (3, 11)
WITHOUT = {"vector": ["numba"], "plain": ["numba", "llvmlite"]}
"""Packages that installs may lack: what `operad-standard` brings, and single families of operators."""

_PROGRAM = re.compile(r"python3(\.\d+)?")
_LOWER_BOUND = re.compile(r"([\w.-]+)(?:\[[^\]]*\])?>=([\d.]+)")
_RELEASE = re.compile(r"\d+(?:\.\d+)+(?![\w.])")  # no pre-release

# What `make setup` needs is asked for, too. A build without the lock (PEP 703) is another interpreter.
_ASK = """
import ensurepip, json, sys, sysconfig, venv
is_usual = sys.implementation.name == "cpython" and not sysconfig.get_config_var("Py_GIL_DISABLED")
print(json.dumps(sys.version_info[:3] if is_usual else None))
"""


@final
@dataclass(frozen=True, slots=True)
class Interpreter:
    """A Python of the machine.

    Attributes:
        path: Its program.
        version: Its release, for example `(3, 12, 1)`.
    """

    path: Path
    version: tuple[int, ...]

    @property
    def release(self) -> str:
        """Its release as text: `3.12.1`."""
        return ".".join(map(str, self.version))


@final
@dataclass(frozen=True, slots=True)
class Outcome:
    """Outcome of one run of the suite.

    Attributes:
        title: The interpreter and its NumPy.
        closing: The last line that pytest wrote, or why there was no run.
        status: Exit status, 0 where every test passed.
    """

    title: str
    closing: str
    status: int


def candidates(environ: Mapping[str, str]) -> list[Path]:
    """Programs that may be a Python: on PATH in its order, then those of pyenv."""
    folders = [Path(folder) for folder in environ.get("PATH", "").split(os.pathsep) if folder]
    pyenv = Path(environ.get("PYENV_ROOT") or Path(environ.get("HOME", "~")).expanduser() / ".pyenv")
    folders += sorted(pyenv.glob("versions/*/bin"))
    programs = [path for folder in folders for path in sorted(folder.glob("python3*"))]
    return [path for path in programs if _PROGRAM.fullmatch(path.name)]


def asked(path: Path) -> Interpreter | None:
    """The interpreter at `path`; None where there is none that can make an environment."""
    try:
        done = subprocess.run([path, "-c", _ASK], capture_output=True, text=True, check=False, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    version = json.loads(done.stdout) if done.returncode == 0 else None  # a shim of pyenv may name none
    return Interpreter(path, tuple(version)) if version else None


def chosen(found: Iterable[Interpreter]) -> list[Interpreter]:
    """The newest release of each minor version that operad supports; of equals the first found."""
    newest: dict[tuple[int, ...], Interpreter] = {}
    for each in found:
        minor = each.version[:2]
        if minor >= FIRST and (minor not in newest or newest[minor].version < each.version):
            newest[minor] = each
    return [newest[minor] for minor in sorted(newest)]


def lower_bounds(found: Sequence[Distribution], tools: Iterable[str] = ()) -> dict[str, str]:
    """The highest lower bound of each package that distributions and their extras require.

    Args:
        found: The distributions. What they require of each other is left out.
        tools: Requirements beside which the packages must stand, those of the development tools.
    """
    bounds: dict[str, str] = {}
    for line in (line for each in found for line in _required(each)):
        name, bound = _parts(line)
        bounds[name] = max(bounds.get(name, bound), bound, key=as_numbers)
    for name, bound in map(_parts, tools):
        if name in bounds:
            bounds[name] = max(bounds[name], bound, key=as_numbers)
    own = {each.name for each in found}
    return {name: bounds[name] for name in sorted(bounds) if name not in own}


def _required(distribution: Distribution) -> Iterator[str]:
    project = distribution.declared["project"]
    yield from project.get("dependencies", [])
    for extra, lines in project.get("optional-dependencies", {}).items():
        if extra not in LEFT_EXTRAS:
            yield from lines


def _parts(line: str) -> tuple[str, str]:
    """Name and lower bound of a requirement."""
    if (match := _LOWER_BOUND.match(line)) is None:
        raise SystemExit(f"the requirement {line!r} has no lower bound; write it as name>=1.2,<2")
    return match[1].lower(), match[2]


def from_oldest(listing: str, bound: str) -> list[str]:
    """The releases in what `pip index versions` prints, from `bound` on, the oldest first."""
    (line,) = [line for line in listing.splitlines() if line.startswith("Available versions:")]
    found = sorted(set(_RELEASE.findall(line)), key=as_numbers)
    return [version for version in found if as_numbers(version) >= as_numbers(bound)]


def as_numbers(version: str) -> tuple[int, ...]:
    """`2.1.0` as `(2, 1)`: the order of releases, in which `2.1` and `2.1.0` are the same."""
    numbers = [int(part) for part in version.split(".")]
    while numbers and not numbers[-1]:
        numbers.pop()
    return tuple(numbers)


def oldest(python: Path, name: str, bound: str) -> str:
    """The oldest release of a package from `bound` on that has a wheel for the environment of `python`.

    Raises:
        SystemExit: pip finds none.
    """
    pip = [str(python), "-m", "pip", "--disable-pip-version-check"]
    listing = subprocess.run([*pip, "index", "versions", name], capture_output=True, text=True, check=False)
    if listing.returncode != 0:
        raise SystemExit(f"pip cannot list the releases of {name}: {listing.stderr.strip()}")
    for version in from_oldest(listing.stdout, bound):
        # Older releases of pip list what has no wheel, too.
        words = ["install", "--dry-run", "--no-deps", f"--only-binary={name}", f"{name}=={version}"]
        if subprocess.run([*pip, *words], capture_output=True, check=False).returncode == 0:
            return version
    raise SystemExit(f"pip finds no wheel of {name}>={bound} for {python}")


def outcomes(interpreter: Interpreter, which: Collection[str], words: Sequence[str]) -> Iterator[Outcome]:
    """Run the suite under `interpreter`, with each of some choices of packages."""
    try:
        newest = environment(interpreter, "newest")
        if "newest" in which:
            yield suite(interpreter, "newest", newest, words)
        if "oldest" in which:
            # Only the pip of this Python knows which wheels fit it.
            bounds = lower_bounds(distributions(), requirements("dev"))
            pins = [f"{name}=={oldest(newest, name, bound)}" for name, bound in bounds.items()]
            yield suite(interpreter, "oldest", environment(interpreter, "oldest", pins), words)
        for name in [name for name in WITHOUT if name in which]:
            python = environment(interpreter, name)
            pip = [str(python), "-m", "pip", "--disable-pip-version-check", "-q"]
            subprocess.run([*pip, "uninstall", "-y", *WITHOUT[name]], check=True)
            yield suite(interpreter, name, python, words)
    except SystemExit as error:
        yield Outcome(f"Python {interpreter.release}", f"no environment: {error}", 1)


def environment(interpreter: Interpreter, which: str, pins: Sequence[str] = ()) -> Path:
    """The Python of an up-to-date environment.

    Raises:
        SystemExit: It cannot be made.
    """
    made = Environment(ROOT, f"build/pythons/{interpreter.release}-{which}", str(interpreter.path), pins)
    made.update()
    return made.python


def suite(interpreter: Interpreter, which: str, python: Path, words: Sequence[str]) -> Outcome:
    """Run pytest by the environment's `python`."""
    title = f"Python {interpreter.release}, {which} packages, NumPy {numpy_of(python)}"
    return run(title, [str(python), "-m", "pytest", *words])


def numpy_of(python: Path) -> str:
    """The version of NumPy that is installed for `python`."""
    program = "from importlib.metadata import version; print(version('numpy'))"
    return subprocess.run([python, "-c", program], capture_output=True, text=True, check=True).stdout.strip()


def run(title: str, command: Sequence[str]) -> Outcome:
    """Run `command` in the checkout, show what it prints, and keep its last line."""
    print(f"== {title}", flush=True)
    closing = "nothing was printed"
    with subprocess.Popen(command, cwd=ROOT, text=True, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        for line in process.stdout:
            print(line, end="", flush=True)
            closing = line.strip("= \n") or closing
    return Outcome(title, closing, process.returncode)


def main(words: Sequence[str] | None = None) -> int:
    """Run the suite on every interpreter, or on one, and print a line for each run."""
    summary, _, more = (__doc__ or "").partition("\n\n")
    shown = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        "python -m tools.pythons", None, summary, more, formatter_class=shown, allow_abbrev=False
    )
    parser.add_argument("--python", default="", help="a path or a name on PATH: this interpreter alone")
    parser.add_argument("--packages", default="newest,oldest", help="those of newest, oldest, vector, plain")
    options, rest = parser.parse_known_args(words)
    which = options.packages.split(",")
    if unknown := set(which) - {"newest", "oldest", *WITHOUT}:
        parser.error(
            f"--packages {', '.join(sorted(unknown))}: expected some of newest, oldest, vector, plain"
        )
    programs = [Path(shutil.which(options.python) or options.python)] if options.python else []
    found = [each for path in programs or candidates(os.environ) if (each := asked(path)) is not None]
    interpreters = chosen(found)
    if not interpreters:
        where = options.python or "PATH and in pyenv"
        parser.error(f"no Python from 3.11 on that can make an environment was found at {where}")
    done = [outcome for interpreter in interpreters for outcome in outcomes(interpreter, which, rest)]
    print()
    for outcome in done:
        print(f"{outcome.title}: {outcome.closing}" + (f" (exit {outcome.status})" if outcome.status else ""))
    return int(any(outcome.status for outcome in done))


if __name__ == "__main__":
    sys.exit(main())
