"""States of a store come and go through a temporary folder, which may be in trouble."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Callable
from typing import Any

import pytest

import operad as od
from operad.errors import OperadError
from operad_module.updates import Updates


def failing(number: int) -> Callable[..., Any]:
    def fail(*_: object, **__: object) -> Any:
        raise OSError(number, os.strerror(number))

    return fail


def updates() -> Any:
    """What moves weights by a store that has an optimizer with states."""
    net = od.sym.FullyConnected(od.sym.var("data"), num_hidden=2, name="fc")
    module = od.mod.Module(od.sym.SoftmaxOutput(net, name="softmax"))
    module.bind([("data", (4, 3))], [("softmax_label", (4,))])
    module.init_params()
    store = od.kv.create("local")
    module.init_optimizer(kvstore=store, optimizer_params={"momentum": 0.9})
    made = module._updates
    assert isinstance(made, Updates)
    return made


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EMFILE])
def test_a_folder_that_cannot_be_made_is_a_named_error(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    made = updates()
    assert made.is_on_store
    before = made._states()
    with monkeypatch.context() as patch:
        patch.setattr(tempfile, "mkdtemp", failing(number))
        with pytest.raises(OperadError, match=f"temporary folder .*: {os.strerror(number)}"):
            made._states()
        with pytest.raises(OperadError, match="temporary folder"):
            made._take(before)
    assert made._states() == before


class Failing:
    """The module `os` as the removal of folders sees it, with a call that fails."""

    def __init__(self, call: str) -> None:
        setattr(self, call, failing(errno.EIO))

    def __getattr__(self, name: str) -> Any:
        return getattr(os, name)


@pytest.mark.parametrize("call", ["lstat", "open", "fstat", "scandir", "unlink", "close", "rmdir"])
def test_a_folder_that_cannot_be_removed_ends_nothing(call: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made = updates()
    before = made._states()
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "os", Failing(call))
        assert made._states() == before
        made._take(before)
