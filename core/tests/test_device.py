"""Contexts."""

from __future__ import annotations

import copy
import pickle
import threading

import numpy as np
import pytest

from operad import context
from operad.device import Context, cpu, cpu_pinned, current_context
from operad.errors import ContextError


def test_equal_contexts_are_one_object():
    assert Context("cpu", 1) is cpu(1) is Context(cpu(1)) is pickle.loads(pickle.dumps(cpu(1)))
    assert copy.deepcopy(cpu(2)) is cpu(2)
    assert cpu(0) is not cpu(1)


def test_contexts_show_as_they_are_written():
    assert repr([cpu(0), Context("gpu", 2), cpu_pinned(1)]) == "[cpu(0), gpu(2), cpu_pinned(1)]"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(("tpu", 0), "unknown device type 'tpu'"), *((("cpu", n), repr(n)) for n in (-1, 1.0, "0"))],
)
def test_unknown_devices_are_refused(arguments, message):
    with pytest.raises(ContextError, match=message):
        Context(*arguments)


def test_the_default_nests_and_is_the_threads_own():
    seen = []
    with cpu(1):
        with cpu(2):
            assert current_context() is cpu(2)
            thread = threading.Thread(target=lambda: seen.append(current_context()))
            thread.start()
            thread.join()
        assert current_context() is cpu(1)
    assert current_context() is cpu(0)
    assert seen == [cpu(0)]


def test_the_default_comes_back_after_an_error():
    with pytest.raises(KeyError), cpu(3):
        raise KeyError
    assert current_context() is cpu(0)


def test_the_default_can_be_asked_for_and_set_on_the_class():
    assert Context.default_ctx is current_context() is cpu(0)
    with cpu(3):
        assert Context.default_ctx is cpu(3)
        Context.default_ctx = cpu(4)
        assert current_context() is cpu(4)
    assert current_context() is cpu(0)
    with pytest.raises(ContextError, match=r"Context\.default_ctx: ctx is 'cpu'"):
        Context.default_ctx = "cpu"


def test_type_numbers_are_mxnets():
    names = ("cpu", "gpu", "cpu_pinned", "cpu_shared")
    assert [Context(name).device_typeid for name in names] == [1, 2, 3, 5]
    assert {number: name for name, number in Context.devstr2type.items()} == Context.devtype2str


def test_the_array_module_of_the_host_is_numpy():
    assert cpu(1).xp is cpu_pinned().xp is np


def test_naming_an_absent_gpu_is_legal_and_asking_for_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "cupy", None)
    assert Context("gpu", 7).is_gpu
    assert context.num_gpus() == 0
    assert context.gpu(0) is Context("gpu", 0)
    with pytest.raises(ContextError, match="pip install cupy"):
        context.check_gpu(context.gpu(0))
    with pytest.raises(ContextError, match="pip install cupy"):
        _ = Context("gpu", 0).xp
