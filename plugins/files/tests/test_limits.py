"""A limit holds for the process, whatever number of threads ask."""

from __future__ import annotations

import os
import threading

import pytest

from operad import config
from operad.errors import FormatError, LimitError
from operad_files.limits import Budget, Deadline, check_entries, expanding
from operad_files.settings import MAX_EXPANDED_BYTES


@pytest.fixture
def budget(monkeypatch):
    monkeypatch.setenv("OPERAD_MAX_EXPANDED_BYTES", "100")
    config.reload()
    yield Budget(MAX_EXPANDED_BYTES.variable, MAX_EXPANDED_BYTES.read, "once it is expanded")
    monkeypatch.undo()
    config.reload()


def test_what_could_never_fit_is_refused_with_file_size_and_setting(budget):
    with pytest.raises(LimitError) as caught, budget.reserve(101, "image 'bomb.png'"):
        pass
    for word in ("image 'bomb.png'", "101 bytes", "at most 100", "OPERAD_MAX_EXPANDED_BYTES"):
        assert word in str(caught.value)
    assert budget.used() == 0
    assert isinstance(caught.value, FormatError)


def test_threads_together_never_hold_more_than_the_limit(budget):
    most, lock, barrier = [0], threading.Lock(), threading.Barrier(16)

    def work():
        barrier.wait()
        for _ in range(50):
            with budget.reserve(40, "a file"), lock:
                most[0] = max(most[0], budget.used())

    threads = [threading.Thread(target=work) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 40 <= most[0] <= 80
    assert budget.used() == 0


def test_a_thread_that_holds_a_part_does_not_wait_for_others(budget):
    holding, done = threading.Event(), threading.Event()

    def other():
        with budget.reserve(50, "another file"):
            holding.set()
            done.wait()

    thread = threading.Thread(target=other)
    thread.start()
    holding.wait()
    try:
        with budget.reserve(30, "a file"), budget.reserve(20, "a part of it"):
            with pytest.raises(LimitError, match="other threads hold 50"), budget.reserve(10, "one more"):
                pass
            with pytest.raises(LimitError, match="expected at most 50"), budget.reserve(60, "too much"):
                pass
    finally:
        done.set()
        thread.join()
    assert budget.used() == 0


def test_a_reservation_that_a_signal_took_away_holds_nothing(budget):
    reservation = budget.reserve(60, "a file")
    reservation.__enter__()
    assert budget.used() == 60
    del reservation  # as where a handler raises between the call and the body of `with`
    assert budget.used() == 0
    with budget.reserve(100, "a file"):
        pass


def test_an_error_inside_gives_the_bytes_back(budget):
    with pytest.raises(KeyError), expanding(60, "a file"):
        raise KeyError("x")
    with expanding(100, "a file"):
        pass


def test_a_forked_child_has_what_threads_of_its_parent_held():
    holding, done = threading.Event(), threading.Event()

    def other():
        with expanding(MAX_EXPANDED_BYTES.read(), "all of it"):
            holding.set()
            done.wait()

    thread = threading.Thread(target=other)
    thread.start()
    holding.wait()
    child = os.fork()
    if child == 0:
        with expanding(MAX_EXPANDED_BYTES.read(), "all of it"):
            os._exit(7)
    done.set()
    thread.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_entries_beyond_the_setting_are_refused_by_its_name(monkeypatch):
    check_entries(11, "a list")
    monkeypatch.setenv("OPERAD_MAX_ENTRIES", "10")
    with pytest.raises(LimitError, match="OPERAD_MAX_ENTRIES"):
        check_entries(11, "a list")


def test_a_deadline_that_has_passed_names_its_setting(monkeypatch):
    deadline = Deadline("a list")
    deadline.check()
    monkeypatch.setattr("time.monotonic", lambda: 1e12)
    with pytest.raises(LimitError, match=r"a list takes more than 3600 s.*OPERAD_MAX_FILE_SECONDS"):
        deadline.check()
