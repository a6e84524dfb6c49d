from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import operad as od
from operad.errors import ArgumentError

Base: Any = od.kvstore.KVStoreBase


@pytest.fixture(autouse=True)
def _registry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Base, "kv_registry", {})


@pytest.mark.parametrize(
    ("name", "of"),
    [
        ("local", "local"),
        ("local_update_cpu", "local"),
        ("local_allreduce_cpu", "local"),
        ("device", "device"),
        ("local_allreduce_device", "device"),
    ],
)
def test_a_store_has_the_type_it_was_asked_for_in_any_case(name: str, of: str) -> None:
    made = od.kv.create(name.upper())
    assert made.type == name
    assert type(made) is type(od.kv.create(of))
    assert isinstance(made, od.kvstore.KVStore)


def test_the_default_is_local() -> None:
    assert od.kvstore.create().type == "local"


def test_a_type_of_another_distribution_is_made_with_its_name(tmp_path: Path) -> None:
    (tmp_path / "acme_store.py").write_text("def make(name):\n    return 'made as ' + name\n")
    info = tmp_path / "acme_store-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Name: acme-store\nVersion: 1.0\nRequires-Dist: operad\n")
    (info / "entry_points.txt").write_text("[operad.kvstores]\ndist_acme = acme_store:make\n")
    done = subprocess.run(
        [sys.executable, "-c", "import operad as od; print(od.kv.create('dist_acme'))"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("made as dist_acme\n", "")


def test_both_namespaces_are_one() -> None:
    assert od.kv is od.kvstore


class Least(Base):  # type: ignore[misc]  # a class of a plugin
    def broadcast(self, key: Any, value: Any, out: Any, priority: int = 0) -> None: ...

    def pushpull(self, key: Any, value: Any, out: Any = None, priority: int = 0) -> None: ...

    def is_capable(self, capability: str) -> bool:
        return False


def test_a_registered_class_is_made_by_its_name_and_needs_three_functions() -> None:
    assert Base.register(Least) is Least
    made = od.kv.create("Least")
    assert isinstance(made, Least)
    assert (made.type, made.rank, made.num_workers) == ("least", 0, 1)
    for call in (made.set_optimizer, made.save_optimizer_states, made.load_optimizer_states):
        with pytest.raises(NotImplementedError, match="a store of type 'least' cannot"):
            call("x")


def test_a_class_that_lacks_one_of_them_cannot_be_made() -> None:
    @Base.register
    class Lacking(Base):  # type: ignore[misc]
        def pushpull(self, key: Any, value: Any, out: Any = None, priority: int = 0) -> None: ...

    with pytest.raises(TypeError, match="broadcast"):
        od.kv.create("lacking")


def test_what_is_no_store_cannot_be_registered() -> None:
    with pytest.raises(ArgumentError, match="expected a subclass of KVStoreBase"):
        Base.register(int)
