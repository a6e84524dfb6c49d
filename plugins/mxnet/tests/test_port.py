"""`operad port`: names of MXNet in programs that are read and not run."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from click.testing import CliRunner

import operad as od
from operad.cli import main
from operad.errors import BrokenPluginError, OperatorNotFoundError
from operad_mxnet.port import names as port_names
from operad_mxnet.port.programs import names_in


def used(program: str) -> list[str]:
    return [name for name, _ in names_in(ast.parse(dedent(program)))]


@pytest.mark.parametrize(
    ("program", "names"),
    [
        ("import mxnet as mx\nmx.nd.array([1])", ["nd.array"]),
        ("import mxnet\nmxnet.nd.array", ["nd.array"]),
        ("import mxnet.ndarray as F\nF.tanh(x)", ["ndarray", "ndarray.tanh"]),
        ("import mxnet.contrib.text\nmxnet.nd.ones", ["contrib.text", "nd.ones"]),
        ("from mxnet import nd as F, autograd\nF.tanh", ["nd", "autograd", "nd.tanh"]),
        ("from mxnet.io import *\nNDArrayIter(x); other()", ["io", "io.NDArrayIter"]),
        ("import mxnet as mx\nnet = mx.sym\ndef f():\n    return net.tanh", ["sym", "sym.tanh"]),
        ("import mxnet as mx\ngetattr(mx.nd, 'tanh')(mx.nd.ones(1))", ["nd.tanh", "nd.ones"]),
        ("import mxnet as mx\nmx.mod.Module(net).fit(it)", ["mod.Module"]),
        ("import mxnet as mx\n@mx.init.register\nclass A(mx.init.Zero): x = mx.cpu()",
         ["init.Zero", "init.register", "cpu"]),
        ("import mxnet as mx\ndef f(x=mx.cpu()): ...", ["cpu"]),
        ("import mxnet as mx\nif 1:\n    from mxnet import nd\nnd.ones", ["nd", "nd.ones"]),
    ],
)  # fmt: skip
def test_names_are_followed_to_mxnet(program: str, names: list[str]) -> None:
    assert used(program) == names


@pytest.mark.parametrize(
    "program",
    [
        "from mxnet import nd\ndef f(nd): return nd.other",
        "from mxnet import nd\ndef f():\n    nd = 3\n    return nd.other",
        "from mxnet import nd\nlambda nd: nd.other",
        "from mxnet import nd\ndef f():\n    from mine import nd\n    nd.other",
        "from mxnet import nd\n[nd.other for nd in x]",
        "import numpy as nd\nfrom .mxnet import nd\nnd.other",
    ],
)
def test_other_meanings_of_a_name_are_not_mxnets(program: str) -> None:
    assert "nd.other" not in used(program)


@pytest.fixture
def port(tmp_path: Path) -> Any:
    """The command, for programs by name; gives exit code and JSON."""

    def run(**programs: str) -> tuple[int, Any]:
        for name, text in programs.items():
            (tmp_path / f"{name}.py").write_text(dedent(text))
        done = CliRunner().invoke(main, ["port", str(tmp_path), "--json"])
        return done.exit_code, json.loads(done.stdout)

    return run


def test_a_program_whose_names_are_all_here_needs_nothing(port: Any) -> None:
    code, told = port(train="import mxnet as mx\nmx.mod.Module(mx.sym.tanh(mx.sym.var('x')))\nexit(1)")
    assert (code, told["files"], told["install"]) == (0, 1, None)
    assert {one["name"]: one["distribution"] for one in told["names"]} == {
        "mod.Module": "operad-module", "sym.tanh": "operad-elemwise", "sym.var": "operad",
    }  # fmt: skip


def test_each_place_of_an_absent_name_is_told_and_what_to_do(port: Any, tmp_path: Path) -> None:
    code, told = port(a="import mxnet as mx\nmx.rtc.CudaModule(1)", b="from mxnet.rtc import x\nx.y")
    (rtc,) = told["names"]
    assert (code, rtc["name"], rtc["standing"]) == (1, "rtc", "absent")
    assert "CuPy" in rtc["why"]
    assert rtc["places"] == [f"{tmp_path}/a.py:2", f"{tmp_path}/b.py:1", f"{tmp_path}/b.py:2"]


def test_one_line_installs_all_that_is_missing(port: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def without(holder: Any, part: str, head: str) -> Any:
        if part in {"tanh", "Convolution"}:
            raise OperatorNotFoundError("no installed plugin provides it")
        return getattr(holder, part)

    monkeypatch.setattr(port_names, "_attribute", without)
    code, told = port(net="import mxnet as mx\nmx.sym.tanh; mx.nd.Convolution; mx.nd.sin")
    assert code == 1
    assert told["install"] == od.registry.install_line(["Convolution", "tanh"])
    standings = {one["name"]: (one["standing"], one["distribution"]) for one in told["names"]}
    assert standings["nd.Convolution"] == ("missing", "operad-convolution")
    assert standings["nd.sin"] == ("here", "operad-elemwise")


def test_what_is_broken_is_not_to_be_installed(port: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(holder: Any, part: str, head: str) -> Any:
        if part == "tanh":
            raise BrokenPluginError("it raises at import\nwith a traceback")
        return getattr(holder, part)

    monkeypatch.setattr(port_names, "_attribute", broken)
    code, told = port(net="import mxnet as mx\nmx.sym.tanh")
    assert (code, told["install"], told["names"][0]["why"]) == (1, None, "it raises at import")


def test_a_name_that_mxnet_has_not_is_unknown(port: Any) -> None:
    code, told = port(net="import mxnet as mx\nmx.nd.tan_h; mx.base._as_lisst")
    whys = {one["name"]: (one["standing"], one["why"]) for one in told["names"]}
    assert code == 1
    assert whys["nd.tan_h"] == ("unknown", "no public name of MXNet 1.9.1")
    assert whys["base._as_lisst"][1].startswith("a private name")


def test_what_cannot_be_read_is_told_and_the_rest_is_read(port: Any, tmp_path: Path) -> None:
    code, told = port(old="print 'x'", good="import mxnet as mx\nmx.cpu()")
    assert (code, told["files"], len(told["names"])) == (1, 1, 1)
    (unread,) = told["unread"]
    assert unread["file"] == f"{tmp_path}/old.py"
    assert "2to3" in unread["why"]


def test_a_person_reads_the_same(tmp_path: Path) -> None:
    program = tmp_path / "a.py"
    program.write_text("import mxnet as mx\nmx.nd.sparse.csr_matrix; mx.nd.tanh")
    shown = CliRunner().invoke(main, ["port", str(program)]).output
    assert "names:     2, 1 of them here" in shown
    assert f"nd.sparse  {program}:2" in shown
    assert "nd.tanh  1     operad-elemwise" in shown
