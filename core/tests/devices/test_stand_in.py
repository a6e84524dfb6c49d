"""The stand-in for CuPy: what it refuses, and when its events are done."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import operad as od
from core.tests.devices.stand_in import installed
from core.tests.devices.streams import CUDARuntimeError


@pytest.fixture
def cupy() -> Iterator[ModuleType]:
    with installed() as found:
        yield found


def test_what_operad_calls_a_gpu_is_the_stand_in(cupy: ModuleType) -> None:
    with od.gpu(1):
        array = od.nd.array([1, 2])
    assert type(array._data) is cupy.ndarray
    assert array._data.device == cupy.cuda.Device(1)
    assert array.asnumpy().tolist() == [1, 2]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (np.asarray, "implicit conversion"),
        (np.add.reduce, "np.add.reduce does not come to arrays of a device"),
        (lambda x: np.add(x, 1, where=x > 0), "CuPy's add has no argument 'where'"),
        (lambda x: x.max(initial=0), "CuPy's ndarray.max has no argument 'initial'"),
        (lambda x: x.argsort(kind="stable"), "CuPy's ndarray.argsort has no argument 'kind'"),
        (lambda x: x.item(0), "CuPy's ndarray.item takes at most 0 arguments, got 1"),
        (lambda x: x + np.ones(2), "add: unsupported type .*numpy.ndarray"),
        (lambda x: np.concatenate([x, np.ones(2)]), "concatenate: unsupported type"),
        (lambda x: np.add(x, [1, 2]), "add: unsupported type .*list"),
        (lambda x: x.__setitem__(0, [1]), "assignment: unsupported type .*list"),
        (np.trapezoid, "np.trapezoid has no counterpart"),
    ],
)
def test_what_cupy_refuses_is_refused_by_name(
    cupy: ModuleType, call: Callable[[Any], object], message: str
) -> None:
    with pytest.raises(TypeError, match=message):
        call(cupy.ones(2))


def test_numpys_functions_come_to_the_devices(cupy: ModuleType) -> None:
    x, out = cupy.asarray([1.0, 4.0]), cupy.empty(2)
    assert np.sqrt(x, out=out) is out
    assert np.matmul(x, x).get() == 17
    assert np.arange(2, like=x).get().tolist() == np.where(x > 1, 1, 0).get().tolist()


def test_generators_draw_what_cupys_do(cupy: ModuleType) -> None:
    generator = cupy.random.Generator(cupy.random.Philox4x3210(1))
    out = cupy.zeros(3)
    assert generator.random(out=out) is out
    assert 0 < float(out.min()) < 1
    with pytest.raises(AttributeError, match="CuPy's Generator has no 'permutation'"):
        generator.permutation(3)
    with pytest.raises(TypeError, match=r"CuPy's Generator\.uniform has no argument 'out'"):
        generator.uniform(out=out)


def test_views_share_memory_and_name_the_array_that_owns_it(cupy: ModuleType) -> None:
    x = cupy.zeros((2, 3))
    view = x[1].reshape(3, 1)
    view[...] = 1
    assert x.get().tolist() == [[0, 0, 0], [1, 1, 1]]
    assert x.base is None
    assert view.base is x


def test_arrays_of_another_device_than_the_current_one_are_refused(cupy: ModuleType) -> None:
    with cupy.cuda.Device(1):
        x = cupy.ones(2)
    with pytest.raises(RuntimeError, match="Device 1"):
        cupy.add(x, 1)


def test_events_of_a_held_stream_are_done_when_the_test_says_so(cupy: ModuleType) -> None:
    stream, told = cupy.cuda.Stream(non_blocking=True), []
    with stream.held():
        event = stream.record()
        stream.launch_host_func(told.append, "over")
        assert (event.done, stream.done, told) == (False, False, [])
        stream.complete()
    assert (event.done, stream.done, told) == (True, True, ["over"])
    assert stream.record().done


def test_a_stream_goes_no_further_than_the_event_it_waits_for(cupy: ModuleType) -> None:
    first, second = cupy.cuda.Stream(), cupy.cuda.Stream()
    with first.held():
        second.wait_event(first.record())
        event = second.record()
        second.complete()
        assert not event.done
        first.complete()
        second.complete()
        assert event.done


def test_an_error_on_a_stream_comes_out_of_the_wait(cupy: ModuleType) -> None:
    stream = cupy.cuda.Stream()
    with stream.held():
        event = stream.record()
        stream.complete(CUDARuntimeError("an illegal address"))
    with pytest.raises(CUDARuntimeError, match="illegal"):
        event.synchronize()


def test_a_late_stream_computes_when_it_is_waited_for_and_no_further(cupy: ModuleType) -> None:
    first, second = cupy.cuda.Stream(), cupy.cuda.Stream()
    with cupy.cuda.Stream.late():
        with first:
            x = cupy.ones(2)
            event = first.record()
            y = x + 1
        with second:
            x_seen = x.get()
        event.synchronize()
        assert np.isnan(x_seen).all()
        assert x.get().tolist() == [1, 1]
        assert np.isnan(y.get()).all()
        first.synchronize()
        assert y.get().tolist() == [2, 2]


def test_a_late_stream_writes_in_the_order_in_which_it_was_told(cupy: ModuleType) -> None:
    with cupy.cuda.Stream.late(), cupy.cuda.Stream():
        x, out = cupy.zeros((2, 3)), cupy.empty(3)
        x[0] = 1
        view = x[1]
        x += x[0]
        cupy.add(view, 1, out=out)
        cupy.add.at(x, (cupy.asarray([1, 1]),), 1)
        order = cupy.asarray([2.0, 1.0, 3.0])
        order.sort()
        assert x[x > 2].get().tolist() == [3, 3, 3]
        assert (x.get().tolist(), out.get().tolist()) == ([[2, 2, 2], [3, 3, 3]], [2, 2, 2])
        assert order.get().tolist() == [1, 2, 3]


def test_an_error_of_a_late_stream_comes_out_of_the_wait(cupy: ModuleType) -> None:
    with cupy.cuda.Stream.late(), cupy.cuda.Stream() as stream:
        cupy.copyto(cupy.zeros(2), cupy.zeros(3))
        with pytest.raises(ValueError, match="broadcast"):
            stream.synchronize()


def test_operations_that_are_not_waited_for_give_wrong_values_on_a_late_device(
    cupy: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    def found() -> list[float]:
        x = od.nd.array([1, 2], ctx=od.gpu(0))
        values: list[float] = (x * 2 + x).asnumpy().tolist()
        return values

    with cupy.cuda.Stream.late():
        assert found() == [3, 6]
        monkeypatch.setattr(cupy.cuda.Event, "synchronize", lambda event: None)
        assert found() != [3, 6]
