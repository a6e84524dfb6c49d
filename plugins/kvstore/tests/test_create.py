from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import operad as od
from core.tests.beside import printed_beside
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
    source, program = "def make(name):\n    return 'made as ' + name\n", "print(od.kv.create('dist_acme'))"
    entry = "dist_acme = acme_extras:make"
    printed = printed_beside(tmp_path, "kvstores", entry, source, f"import operad as od; {program}")
    assert printed == "made as dist_acme\n"


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
