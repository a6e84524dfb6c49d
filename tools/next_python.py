"""A Python that is not installed: `python -m tools.next_python`, or `make test-next-python`.

npm's package pyodide is CPython for WebAssembly, which node runs, often a newer one than a machine has. It
compiles every file of the checkout, with warnings as errors: what a new Python deprecates in the language
shows there. NumPy has no wheel for it, so nothing is imported. The exit status is 1 where a file does not
compile, and 2 where node, npm or the package is missing, which the last line names.

`python -m tools.next_python --here` does the same by the Python that runs it, which needs nothing else.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
FOLDER: Final = ROOT / "build" / "pyodide"
PACKAGE: Final = "pyodide@314"
"""The versions that are Python 3.14."""
_PROGRAM: Final = """
import { loadPyodide } from "pyodide";
const python = await loadPyodide();
python.FS.mkdirTree("/checkout");
python.FS.mount(python.FS.filesystems.NODEFS, { root: process.argv[2] }, "/checkout");
process.exit(python.runPython(`
import sys
sys.path.insert(0, "/checkout")
from tools.next_python import here
here()
`));
"""


def sources(root: Path = ROOT) -> list[Path]:
    """The files of Python that the repository holds."""
    folders = ("contrib_ops", "core", "examples", "operator_sdk", "plugins", "tests", "tools")
    return [root / "conftest.py", *(file for each in folders for file in sorted((root / each).rglob("*.py")))]


def faults(files: Iterable[Path]) -> Iterator[str]:
    """Compile files, with warnings as errors; gives a line for each that does not compile."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for file in files:
            try:
                compile(file.read_bytes(), str(file), "exec", dont_inherit=True)
            except (SyntaxError, ValueError, Warning) as error:
                yield f"{file}: {type(error).__name__}: {error}"


def here() -> int:
    """Compile all by the Python that runs this, print what is wrong, and return the exit status."""
    files = sources()
    found = list(faults(files))
    release = ".".join(map(str, sys.version_info[:3]))
    print("\n".join([*found, f"Python {release}: {len(files) - len(found)} of {len(files)} files compile"]))
    return int(bool(found))


def main(words: Sequence[str] | None = None) -> int:
    """Compile all, here or by the next Python."""
    if (sys.argv[1:] if words is None else words) == ["--here"]:
        return here()
    for program in ("node", "npm"):
        if shutil.which(program) is None:
            return _missing(f"there is no {program}")
    FOLDER.mkdir(parents=True, exist_ok=True)
    if not (FOLDER / "node_modules" / "pyodide").exists():
        command = ["npm", "install", "--silent", "--no-save", "--prefix", str(FOLDER), PACKAGE]
        if subprocess.run(command, check=False, stdin=subprocess.DEVNULL).returncode:
            return _missing(f"npm does not get {PACKAGE}")
    program_file = FOLDER / "compile.mjs"
    program_file.write_text(_PROGRAM)
    return subprocess.run(["node", program_file, ROOT], check=False).returncode


def _missing(what: str) -> int:
    print(f"cannot run: {what}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
