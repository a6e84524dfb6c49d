"""Other processors, emulated: `python -m tools.emulated arm`, or `make test-arm` and `make test-x86`.

QEMU's user mode runs each program of this machine's Linux for another processor:

* arm: a 64-bit ARM without SVE. Programs are Debian's for arm64, packages are wheels for it.
* avx2: an x86 without AVX-512. Programs and packages are those of `.venv`.
* sse: an x86 without fused multiply-add, and so without vector code.

On x86 wide suites run as with fewer instructions by `tools.instruction_set`, in a tenth of the time.

Nothing is installed on the system. Packages of Debian come by an apt with folders of its own, wheels by pip,
and both are unpacked under `build/emulated`, which keeps them; remove a folder there to make it again. An
environment's `bin/python` is a script that calls QEMU, so processes that a test starts are emulated too.

Each processor runs its parts one after another: facts, results of vector code beside this machine's
(`tests.platforms.vector_results`), tests, and 17 contract checks of ten operators on a few cases
(`tests.conformance.few_checks`; all of `operad check` is 40 times that work). Words name some of the parts.
The exit status is 1 where a part failed, and 2 where what it takes is missing; the last line names it.
"""

from __future__ import annotations

import argparse
import os
import platform
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import distributions as installed
from pathlib import Path
from typing import Final, final

from tools.workspace import ROOT, Distribution, distributions

PARTS: Final = ("facts", "results", "tests", "check")
FOLDER: Final = ROOT / "build" / "emulated"
OPERATORS: Final = (
    "tanh", "softmax", "broadcast_add", "sum", "dot", "FullyConnected", "Convolution", "BatchNorm", "Pooling",
    "sgd_update",
)  # fmt: skip
"""Those that are checked: elements, sums, products, windows, states, an update."""
TESTS: Final = (
    "core/tests/engine/test_engine.py",
    "core/tests/engine/test_threaded.py",
    "core/tests/ndarray/test_arithmetic.py",
    "core/tests/storage",
    "core/tests/test_import.py",
    "operator_sdk/sdk/tests/vector/test_compiled.py",
    "operator_sdk/sdk/tests/vector/test_machine.py",
    "operator_sdk/sdk/tests/vector/test_team.py",
    "plugins/fully_connected",
    "plugins/serialization",
)
_EXTRAS: Final = {"operad": ("cli",), "operad-sdk": ("fast",)}
_TOOLS: Final = ("mpmath", "pytest-timeout", "scipy")
_NOT_PASSED_ON: Final = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")
"""Variables that would have BLAS take instructions of this machine's processor."""
_FAST: Final = "not more and not slow and not contract"
_LONG: Final = ("-o", "timeout=1800", "-o", "watchdog_timeout=2400")
_FACTS: Final = """
import platform, sys, numpy, operad
from operad_sdk.vector import reason_against
from operad_sdk.vector.machine import _asked
print(f"Python {platform.python_version()}, NumPy {numpy.__version__}, {platform.machine()}, {_asked().cpu}: "
      + (reason_against() or "vector code"))
"""


class MissingError(Exception):
    """Something that an emulated run takes is not here; the message says what."""


@final
@dataclass(frozen=True, slots=True)
class Processor:
    """A processor to emulate.

    Attributes:
        architecture: In QEMU's words.
        model: Of it, in QEMU's words.
        debian: Name of the architecture in Debian, where its programs are wanted; "": this machine's serve.
    """

    architecture: str
    model: str
    debian: str


PROCESSORS: Final = {
    "arm": Processor("aarch64", "cortex-a72", "arm64"),
    "avx2": Processor("x86_64", "Haswell-v4", ""),
    "sse": Processor("x86_64", "Nehalem", ""),
}


def check_host(system: str, machine: str) -> None:
    """Refuse a machine that these environments are not for.

    Raises:
        MissingError: It is no x86 with Linux.
    """
    if (system, machine) != ("Linux", "x86_64"):
        raise MissingError(f"the environments are for Linux on x86_64, and this is {system} on {machine}")


def qemu(architecture: str, folder: Path = FOLDER) -> Path:
    """QEMU's program for an architecture: of the system, or unpacked from Debian's package.

    Raises:
        MissingError: There is none, and it cannot be fetched.
    """
    names = [f"qemu-{architecture}-static", f"qemu-{architecture}"]  # Debian's names until 12, and from 13 on
    for name in names:
        if found := shutil.which(name):
            return Path(found)
    root = unpacked(folder / "qemu", "amd64", "qemu-user-static")
    there = [root / "usr/bin" / name for name in names if (root / "usr/bin" / name).exists()]
    if not there:
        raise MissingError(f"Debian's package qemu-user-static has no {names[0]}")
    return there[0]


def unpacked(folder: Path, architecture: str, *packages: str) -> Path:
    """A folder of packages of Debian and all that they depend on, unpacked and not set up.

    Raises:
        MissingError: apt is not here, or does not get them.
    """
    root, made = folder / "root", folder / "made"
    if made.exists():
        return root
    for program in ("apt-get", "dpkg-deb"):
        if shutil.which(program) is None:
            raise MissingError(f"there is no {program} to fetch {', '.join(packages)} for {architecture}")
    shutil.rmtree(folder, ignore_errors=True)
    for name in ("state/lists/partial", "cache/archives/partial", "root"):
        (folder / name).mkdir(parents=True)
    status = folder / "status"
    status.touch()  # nothing is installed there, so all dependencies come along
    apt = [
        "apt-get", "--quiet=2", "--option", f"Dir::State={folder / 'state'}",
        "--option", f"Dir::State::status={status}", "--option", f"Dir::Cache={folder / 'cache'}",
        "--option", f"APT::Architecture={architecture}", "--option", f"APT::Architectures={architecture}",
        "--option", "APT::Sandbox::User=", "--option", "Debug::NoLocking=1",
    ]  # fmt: skip
    fetched = ["install", "--yes", "--download-only", "--no-install-recommends", *packages]
    for words in (["update"], fetched):
        _fetch([*apt, *words], f"{', '.join(packages)} for {architecture}")
    for archive in sorted(folder.glob("cache/archives/*.deb")):
        subprocess.run(["dpkg-deb", "--extract", archive, root], check=True)
    made.touch()
    return root


def _fetch(command: Sequence[str], what: str) -> None:
    done = subprocess.run(command, check=False, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or ["it says nothing"]
        raise MissingError(f"{Path(command[0]).name} does not get {what}: {lines[-1]}")


def packages_of(found: Sequence[Distribution]) -> list[str]:
    """Names of the packages, but those of the checkout, that its distributions and the tests require."""
    lines = list(_TOOLS)
    for project in (each.declared["project"] for each in found):
        extras = project.get("optional-dependencies", {})
        lines += project.get("dependencies", [])
        lines += (line for name in _EXTRAS.get(project["name"], ()) for line in extras[name])
    names = {line.partition(">")[0].partition("[")[0] for line in lines}
    return sorted(names - {each.name for each in found})


def script(qemu: Path, model: str, root: Path | None, python: Path) -> str:
    """Text of a `bin/python` that runs emulated; Python takes its own path from the name it is called by."""
    prefix = f"-L {root} " if root else ""
    return f'#!/bin/sh\nexec {qemu} -cpu {model} {prefix}-0 "$0" {python} "$@"\n'


def environment(name: str, folder: Path = FOLDER) -> Path:
    """The Python of an emulated processor's environment, which is made where it does not stand.

    Raises:
        MissingError: Something for it is not here.
    """
    processor, place = PROCESSORS[name], folder / name
    program = qemu(processor.architecture, folder)
    root, python = None, Path(sys.executable).resolve()
    packages = Path(next(each for each in sys.path if each.endswith("site-packages")))
    if processor.debian:
        root = unpacked(folder / f"debian-{processor.debian}", processor.debian, "python3", "libstdc++6")
        python = next(each for each in sorted(root.glob("usr/bin/python3.*")) if each.name[8:].isdigit())
        packages = wheels(folder / f"wheels-{processor.debian}", python.name.removeprefix("python"), packages)
    library = place / "lib" / python.name
    for each in (place / "bin", library):
        each.mkdir(parents=True, exist_ok=True)
    (place / "pyvenv.cfg").write_text(f"home = {python.parent}\ninclude-system-site-packages = false\n")
    link = library / "site-packages"
    link.unlink(missing_ok=True)
    link.symlink_to(packages)
    found = place / "bin" / "python"
    found.write_text(script(program, processor.model, root, python))
    found.chmod(0o755)
    return found


def wheels(folder: Path, version: str, packages: Path) -> Path:
    """A folder of packages for another processor, in the releases of this environment, and of the checkout.

    Raises:
        MissingError: pip does not get one.
    """
    made = folder / "made"
    if not made.exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        releases = {each.metadata["Name"]: each.version for each in installed(path=[str(packages)])}
        constraints = folder / "constraints.txt"
        constraints.write_text("".join(f"{name}=={release}\n" for name, release in releases.items()))
        systems = [f"--platform=manylinux_2_{minor}_aarch64" for minor in (28, 27, 26, 24, 17)]
        names = packages_of(distributions())
        words = ["--only-binary=:all:", f"--python-version={version}", *systems, "--no-compile"]
        command = [
            sys.executable,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--target",
            str(folder / "packages"),
            *words,
        ]
        _fetch([*command, f"--constraint={constraints}", *names], "wheels for arm64")
        made.touch()
    # What makes the checkout's distributions importable, and found by their entry points.
    for each in [*packages.glob("operad*.dist-info"), *packages.glob("_editable_impl_operad*.pth")]:
        target = folder / "packages" / each.name
        target.unlink(missing_ok=True)
        target.symlink_to(each)
    return folder / "packages"


@final
@dataclass(frozen=True, slots=True)
class Outcome:
    """Outcome of one part.

    Attributes:
        title: The processor and the part.
        closing: The last line that it printed.
        seconds: Wall time.
        processor_s: Processor time in seconds, which other programs of the machine do not lengthen.
        status: Exit status.
    """

    title: str
    closing: str
    seconds: float
    processor_s: float
    status: int

    def text(self) -> str:
        """One line."""
        failed = f" (exit {self.status})" if self.status else ""
        spent = f"{self.seconds:.0f} s, {self.processor_s:.0f} s of processor time"
        return f"{self.title}: {self.closing}{failed}, {spent}"


def ran(command: Sequence[str | Path], settings: Mapping[str, str]) -> tuple[str, int]:
    """Run `command` in the checkout and show what it prints; gives the last line, and the exit status."""
    closing = "nothing was printed"
    with subprocess.Popen(
        command, cwd=ROOT, env=settings, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            # In each process QEMU names the features of the model that it does not emulate.
            if not line.startswith("qemu-x86_64"):
                print(line, end="", flush=True)
                closing = line.strip("= \n") or closing
    return closing, process.returncode


def parts(name: str, python: Path, folder: Path = FOLDER) -> dict[str, list[list[str | Path]]]:
    """The commands of the parts of a processor's run, by name."""
    emulated, own = folder / f"{name}.npz", folder / "host.npz"
    results = ["-m", "tests.platforms.vector_results"]
    pytest = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", _FAST, *_LONG]
    return {
        "facts": [[python, "-c", _FACTS]],
        "results": [
            [sys.executable, *results, "write", own],
            [python, *results, "write", emulated],
            [sys.executable, *results, "compare", own, emulated],
        ],
        "tests": [[python, *pytest, *TESTS]],
        "check": [[python, "-m", "tests.conformance.few_checks", *OPERATORS]],
    }


def outcomes(name: str, titles: Sequence[str], settings: Mapping[str, str]) -> Iterator[Outcome]:
    """Run some parts of a processor's run, or all, up to the first command of each that fails.

    Raises:
        MissingError: Something for it is not here.
    """
    found = parts(name, environment(name))
    cache = FOLDER / f"cache-{name}"
    shutil.rmtree(cache, ignore_errors=True)  # what is compiled is compiled again
    for title in titles or found:
        begin, processor_s = time.monotonic(), _processor_s()
        for command in found[title]:
            closing, status = ran(command, {**settings, "OPERAD_CACHE_DIR": str(cache)})
            if status:
                break
        seconds, processor_s = time.monotonic() - begin, _processor_s() - processor_s
        yield Outcome(f"{name}, {title}", closing, seconds, processor_s, status)


def _processor_s() -> float:
    """Processor time of the processes that this one has waited for, and of theirs."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main(words: Sequence[str] | None = None) -> int:
    """Run the parts of processors, and print a line for each."""
    summary, _, more = (__doc__ or "").partition("\n\n")
    shown = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser("python -m tools.emulated", None, summary, more, formatter_class=shown)
    parser.add_argument("processors", metavar=",".join(PROCESSORS), help="one, or several with commas")
    parser.add_argument("parts", nargs="*", metavar="|".join(PARTS), help="all, where none is named")
    asked = parser.parse_args(words)
    names = asked.processors.split(",")
    if unknown := [*(set(names) - PROCESSORS.keys()), *(set(asked.parts) - set(PARTS))]:
        parser.error(f"there is no {unknown[0]!r}; there are {', '.join([*PROCESSORS, *PARTS])}")
    settings = {key: value for key, value in os.environ.items() if key not in _NOT_PASSED_ON}
    settings = {"OPERAD_NUM_THREADS": "1", **settings}
    done: list[Outcome] = []
    try:
        check_host(platform.system(), platform.machine())
        for name in names:
            for outcome in outcomes(name, asked.parts, settings):
                print(outcome.text(), flush=True)
                done.append(outcome)
    except MissingError as error:
        print(f"cannot run: {error}", file=sys.stderr)
        return 2
    print("\n".join(["", *(outcome.text() for outcome in done)]))
    return int(any(outcome.status for outcome in done))


if __name__ == "__main__":
    sys.exit(main())
