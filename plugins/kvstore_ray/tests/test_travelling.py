from __future__ import annotations

from typing import Any

import pytest

import operad as od
from operad.errors import ArgumentError, FormatError

pytest.importorskip("ray", reason="Ray is not installed")
from operad_kvstore_ray.travelling import Unpacking, packed


def double(key: object, gradient: Any, weight: Any) -> None:
    weight += 2 * gradient


def test_an_optimizer_travels_as_json() -> None:
    made = od.optimizer.create("adam", learning_rate=0.5, param_idx2name={0: "fc1_weight"})
    content = packed("optimizer", made, may_pickle=False)
    assert b'"fc1_weight"' in content[1]
    back = Unpacking(b"key", may_pickle=False).unpacked("optimizer", content)
    assert (type(back), back.lr, back.idx2name) == (type(made), 0.5, {0: "fc1_weight"})


def test_code_neither_leaves_nor_enters_where_that_is_not_asked_for() -> None:
    for what, code in (("updater", double), ("optimizer", type("Own", (od.optimizer.Optimizer,), {})())):
        with pytest.raises(ArgumentError, match="set OPERAD_KV_ALLOW_PICKLE=1"):
            packed(what, code, may_pickle=False)
    content = packed("updater", double, may_pickle=True)
    with pytest.raises(ArgumentError, match="run no code"):
        Unpacking(b"key", may_pickle=False).unpacked("updater", content)


def test_code_in_a_picture_runs_again_in_the_actor_that_has_written_it_alone() -> None:
    own, other = Unpacking(b"key", may_pickle=True), Unpacking(b"another", may_pickle=True)
    own.unpacked("updater", packed("updater", double, may_pickle=True))
    kept = own.sealed()
    assert Unpacking(b"key", may_pickle=True).unsealed(kept, "it") is not None
    strangers = {**kept, "code": packed("updater", print, may_pickle=True)[1]}
    for reader, found in ((other, kept), (own, strangers), (Unpacking(b"key", may_pickle=False), kept)):
        with pytest.raises(FormatError, match="code that this server has not written"):
            reader.unsealed(found, "the picture")
    assert own.unsealed({"code": b"", "seal": b""}, "it") is None
