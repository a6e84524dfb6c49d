from __future__ import annotations

import ast
import subprocess
import sys

import pytest

from operad import registry

PROGRAM = """
import operad as od
from operad import nd, sym
from operad.device import Context

x = nd.array([[1.0]])
y: nd.NDArray = nd.Dense(x, x, x, mean=x, units=3, mode="exact")
twice: od.NDArray = nd.double(x, 3.0, out=x)
pair: list[od.NDArray] = nd.Many(x, x, dim=0)
also: list[od.NDArray] = nd.Many([x, x])
z: od.NDArray = nd.empty((2, 3), ctx=od.cpu(1))
filled: od.NDArray = nd.filled(2.0)
also_filled: od.NDArray = nd.made.fill(2.0)
s: od.Symbol = sym.Dense(sym.var("data"), units=3, name="fc")
place: Context = od.cpu()

nd.duble(x)  # 1
nd.Dense(x, x, x, x)  # 2
nd.Dense(x, x, x, mean=x, units=3, mode="fats")  # 3
nd.double("text")  # 4
sym.Dense(x, units=3)  # 5
nd.filled("text")  # 6
"""

FILL = (
    "from operad import NDArray, nd\n\n\ndef fill(value: float) -> NDArray:\n    return nd.array([value])\n"
)


@pytest.fixture
def written(acme, run, tmp_path):
    """The folder of stubs of two plugins."""
    attributes = {"nd.filled": "face_acme.arrays:fill", "nd.made": "face_acme.arrays"}
    acme.install("face-acme", attributes=attributes)
    (tmp_path / "typings" / "face_acme").mkdir(parents=True)
    (tmp_path / "typings" / "face_acme" / "__init__.py").touch()
    (tmp_path / "typings" / "face_acme" / "arrays.py").write_text(FILL)
    registry.refresh()
    assert run("stubs", "--out", str(tmp_path / "typings")).exit_code == 0
    return tmp_path / "typings"


def definitions(text):
    return {node.name: node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)}


@pytest.mark.more
def test_mypy_takes_right_calls_and_refuses_wrong_ones(written, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    (tmp_path / "mypy.ini").write_text(f"[mypy]\nmypy_path = {written}\nstrict = true\n")
    words = [
        "--config-file",
        "mypy.ini",
        "--cache-dir",
        "cache",
        "--no-error-summary",
        "--hide-error-context",
    ]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *words, str(program)],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    errors = [line for line in done.stdout.splitlines() if ": error: " in line]
    lines = [PROGRAM.splitlines()[int(line.split(":")[1]) - 1] for line in errors]
    assert [line.rpartition("# ")[2] for line in lines] == ["1", "2", "3", "4", "5", "6"], done.stdout


def test_what_plugins_add_is_imported_from_where_it_is(acme, run, tmp_path):
    attributes = {
        "nd.draw": "acme_faces:draw",
        "nd.random": "acme_faces",
        "nd.paint": "acme_faces:draw",
        "sym.limit": "acme_faces:limit",
    }
    acme.install("acme-attributes", attributes=attributes)
    acme.write("acme_faces", "limit = 3\n\ndef draw(n: int) -> float:\n    return 1.0\n")
    registry.refresh()
    assert run("stubs", "--out", str(tmp_path)).exit_code == 0
    arrays = (tmp_path / "operad" / "nd.pyi").read_text().splitlines()
    renamed = {
        "random = _added_random",
        "from acme_faces import draw as _added_paint",
        "paint = _added_paint",
    }
    own = {"from acme_faces import draw as draw", "import acme_faces as _added_random"}
    assert own | renamed <= set(arrays)
    symbols = (tmp_path / "operad" / "sym.pyi").read_text().splitlines()
    assert "from acme_faces import limit as limit" in symbols


def test_every_name_is_declared_with_its_docstring(written):
    functions = definitions((written / "operad" / "nd.pyi").read_text())
    assert {"Dense", "dense", "double", "Many"} <= set(functions)
    assert ast.get_docstring(functions["Dense"]) == "A documented operator."


def test_the_package_says_that_it_is_partial(written):
    assert (written / "operad" / "py.typed").read_text() == "partial\n"


def test_an_operator_that_cannot_be_loaded_is_left_out_and_said_so(acme, run, run_json, tmp_path):
    acme.install("bad", operators={"lost": "bad_gone:lost"})
    registry.refresh()
    found = run_json("stubs", "--out", str(tmp_path))
    assert [entry["name"] for entry in found["skipped"]] == ["lost"]
    assert found["operators"] == 4
    assert run("stubs", "--out", str(tmp_path)).exit_code == 1
    assert "lost" not in definitions((tmp_path / "operad" / "nd.pyi").read_text())


def test_modules_that_plugins_add_are_imported_from_where_they_are(acme, run, tmp_path):
    acme.install(
        "acme-modules", namespaces={"fast": "acme_fast", "fastest": "acme_fast.more", "nd": "acme_fast"}
    )
    acme.write("acme_fast", "")
    registry.refresh()
    assert run("stubs", "--out", str(tmp_path)).exit_code == 0
    lines = (tmp_path / "operad" / "__init__.pyi").read_text().splitlines()
    assert {"import acme_fast as _added_fast", "fast = _added_fast"} <= set(lines)
    assert "from acme_fast import more as _added_fastest" in lines
    assert not any(line.startswith("nd =") for line in lines)  # the core's own win
