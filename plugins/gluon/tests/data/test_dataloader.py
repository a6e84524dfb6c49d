from __future__ import annotations

import gc
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import operad as od
from core.tests.descriptors import opened
from operad.errors import EngineError

data = od.gluon.data


class Numbers(data.Dataset):  # type: ignore[misc]  # a class of a plugin
    """The numbers below `count`; `at` one of them `act` is called."""

    def __init__(self, count: int = 12, at: int | None = None, act: Callable[[], Any] = lambda: None) -> None:
        self.count, self.at, self.act = count, at, act

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, idx: int) -> Any:
        if idx == self.at:
            self.act()
        return float(idx)


def raise_value_error() -> None:
    raise ValueError("a damaged sample")


def end() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def values(batches: Any) -> list[list[float]]:
    return [batch.asnumpy().tolist() for batch in batches]


def children() -> set[int]:
    return {one.pid for one in multiprocessing.active_children() if one.pid is not None}


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    gc.collect()
    processes, before = children(), opened()
    yield
    gc.collect()
    assert children() == processes
    assert opened() <= before


@pytest.mark.parametrize("last_batch", ["keep", "discard", "rollover"])
@pytest.mark.parametrize("more", [{}, {"prefetch": 0}, {"prefetch": 100}, {"thread_pool": True}])
def test_workers_give_the_batches_of_the_calling_thread(last_batch: str, more: dict[str, Any]) -> None:
    loaders = [data.DataLoader(Numbers(11), 3, last_batch=last_batch, num_workers=n, **more) for n in (0, 2)]
    for _ in range(3):  # what rolls over begins the next pass
        expected, found = (values(loader) for loader in loaders)
        assert found == expected
        assert sum(map(len, found)) >= 9


def test_nested_samples_keep_their_types_on_the_way() -> None:
    dataset = data.ArrayDataset(
        np.arange(6, dtype=np.uint8).reshape(3, 2), od.nd.ones((3, 0)), [1, 2, 3], np.zeros((3, 2), "float64")
    )
    (found,) = data.DataLoader(dataset, 3, num_workers=1)
    assert [one.dtype.name for one in found] == ["uint8", "float32", "int64", "float64"]
    assert [one.shape for one in found] == [(3, 2), (3, 0), (3,), (3, 2)]
    found[0][:] = 7  # its memory is the program's
    assert found[0].asnumpy().tolist() == [[7, 7]] * 3


def test_a_batchify_function_may_be_any_callable_and_give_anything() -> None:
    loader = data.DataLoader(Numbers(4), 2, num_workers=1, batchify_fn=lambda samples: {"all": samples})
    assert list(loader) == [{"all": [0.0, 1.0]}, {"all": [2.0, 3.0]}]


@pytest.mark.parametrize("thread_pool", [False, True])
def test_an_error_of_the_dataset_is_raised_here_and_the_loader_goes_on(thread_pool: bool) -> None:
    loader = data.DataLoader(
        Numbers(12, at=5, act=raise_value_error), 2, num_workers=2, thread_pool=thread_pool
    )
    for _ in range(2):
        batches = iter(loader)
        assert values([next(batches), next(batches)]) == [[0, 1], [2, 3]]
        with pytest.raises(ValueError, match="a damaged sample") as raised:
            next(batches)
        if not thread_pool:
            assert "in raise_value_error" in str(raised.value.__cause__)


def test_an_error_that_cannot_be_pickled_comes_by_its_text() -> None:
    class OwnError(Exception):
        pass

    def act() -> None:
        raise OwnError("of a local class")

    with pytest.raises(EngineError, match="OwnError: of a local class"):
        list(data.DataLoader(Numbers(2, at=1, act=act), 1, num_workers=1))


def test_a_batch_that_cannot_be_pickled_is_an_error() -> None:
    loader = data.DataLoader(Numbers(2), 1, num_workers=1, batchify_fn=lambda samples: threading.Lock())
    with pytest.raises(TypeError, match="pickle"):
        list(loader)


def test_a_worker_that_is_killed_is_an_error_and_the_next_pass_has_new_ones() -> None:
    dataset = Numbers(6, at=3, act=end)
    loader = data.DataLoader(dataset, 1, num_workers=2)
    with pytest.raises(EngineError, match="was killed by signal SIGKILL before it sent a batch"):
        list(loader)
    dataset.at = None
    assert values(loader) == [[0], [1], [2], [3], [4], [5]]


def test_a_worker_that_is_killed_between_two_batches_is_an_error() -> None:
    loader = data.DataLoader(Numbers(200), 1, num_workers=1, prefetch=1)
    batches = iter(loader)
    next(batches)
    for process in multiprocessing.active_children():
        process.kill()
    with pytest.raises(EngineError, match="was killed by signal SIGKILL"):
        list(batches)


def test_a_worker_that_takes_too_long_is_ended() -> None:
    held = threading.Event()
    loader = data.DataLoader(Numbers(2, at=1, act=held.wait), 1, num_workers=1, timeout=0.2)
    with pytest.raises(multiprocessing.TimeoutError, match=r"made no batch within 0\.2 s"):
        list(loader)


def test_a_thread_that_takes_too_long_is_an_error() -> None:
    held = threading.Event()
    loader = data.DataLoader(Numbers(2, at=1, act=held.wait), 1, num_workers=1, timeout=0.2, thread_pool=True)
    with pytest.raises(multiprocessing.TimeoutError, match=r"no batch within 0\.2 s"):
        list(loader)
    held.set()


def test_passes_that_are_dropped_half_way_disturb_no_other() -> None:
    loader = data.DataLoader(Numbers(30), 1, num_workers=2, prefetch=20)
    for count in range(6):
        batches = iter(loader)
        assert values([next(batches) for _ in range(count)]) == [[i] for i in range(count)]
    first, second = iter(loader), iter(loader)
    assert values([next(first), next(second), next(first)]) == [[0], [0], [1]]
    assert values(loader) == [[i] for i in range(30)]
    assert values(first) == [[i] for i in range(2, 30)]


@pytest.mark.more
def test_more_batches_may_be_asked_for_than_a_socket_holds() -> None:
    loader = data.DataLoader(Numbers(600), 1, num_workers=1, prefetch=600)
    assert values(loader) == [[i] for i in range(600)]


def test_the_workers_end_with_the_loader() -> None:
    before = children()
    loader = data.DataLoader(Numbers(), 2, num_workers=2)
    batches = iter(loader)
    next(batches)
    assert len(children() - before) == 2
    del loader, batches
    gc.collect()
    assert children() == before


@pytest.mark.parametrize("thread_pool", [False, True])
def test_a_forked_child_has_workers_of_its_own(thread_pool: bool) -> None:
    loader = data.DataLoader(Numbers(4), 2, num_workers=1, thread_pool=thread_pool)
    assert values(loader) == [[0, 1], [2, 3]]
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = int(values(loader) != [[0, 1], [2, 3]])
            del loader
            gc.collect()
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert values(loader) == [[0, 1], [2, 3]]


def test_a_loader_can_be_pickled_and_copied() -> None:
    loader = data.DataLoader(data.SimpleDataset([1.0, 2.0]), 1, num_workers=1)
    list(loader)
    assert values(pickle.loads(pickle.dumps(loader))) == [[1], [2]]


@pytest.mark.more
def test_workers_draw_other_numbers_than_each_other_and_the_same_again() -> None:
    class Drawn(Numbers):
        def __getitem__(self, idx: int) -> Any:
            return np.random.uniform(), float(od.nd.random.uniform().asscalar())

    def drawn() -> list[list[float]]:
        np.random.seed(3)
        loader = data.DataLoader(Drawn(2), 1, num_workers=2)
        return [[float(one.asscalar()) for one in batch] for batch in loader]

    first = drawn()
    assert len({number for pair in first for number in pair}) == 4
    assert drawn() == first


@pytest.mark.more
def test_a_program_that_is_killed_leaves_no_process(tmp_path: Any) -> None:
    program = (
        "import operad as od, sys, time\n"
        "loader = od.gluon.data.DataLoader(od.gluon.data.SimpleDataset(list(range(9))), 1, num_workers=2)\n"
        "batches = iter(loader)\n"
        "next(batches)\n"
        "print(*loader._pool.pids, flush=True)\n"
        "sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        pids = [int(pid) for pid in child.stdout.readline().split()]
        child.kill()
        child.stdout.read()  # ends with the last process that has the pipe, and so with the workers
    assert len(pids) == 2


def test_pinned_batches_are_on_their_context() -> None:
    for num_workers in (0, 1):
        loader = data.DataLoader(data.ArrayDataset([1.0], [2.0]), 1, pin_memory=True, num_workers=num_workers)
        (batch,) = loader
        assert [str(one.context) for one in batch] == ["cpu_pinned(0)"] * 2


def test_auto_reload_begins_the_next_pass() -> None:
    seen: list[int] = []
    loader = data.DataLoader(
        Numbers(2, at=0, act=lambda: seen.append(1)), 1, num_workers=1, thread_pool=True, auto_reload=True
    )
    assert values(loader) == values(loader) == [[0], [1]]
    loader.clean()


def test_arguments_that_contradict_each_other_are_refused() -> None:
    sampler = data.SequentialSampler(3)
    for arguments in (
        {}, {"batch_size": 1, "shuffle": True, "sampler": sampler}, {"batch_size": 1, "batch_sampler": [[0]]},
        {"shuffle": True, "batch_sampler": [[0]]}, {"last_batch": "keep", "batch_sampler": [[0]]},
        {"batch_size": 1, "timeout": 0},
    ):  # fmt: skip
        with pytest.raises(ValueError, match="DataLoader: "):
            data.DataLoader(Numbers(), **arguments)
