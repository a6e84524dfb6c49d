from __future__ import annotations

import threading

import pytest

from operad_kvstore.courier import Courier


def test_jobs_run_in_order_in_another_thread() -> None:
    courier, seen = Courier("test"), list[object]()
    for number in range(5):
        courier.send(lambda number=number: seen.append(number))
    assert courier.ask(threading.get_ident) != threading.get_ident()
    assert seen == [0, 1, 2, 3, 4]


def test_the_error_of_a_job_nobody_waits_for_is_raised_at_the_next_wait_and_nothing_runs_between() -> None:
    courier, seen = Courier("test"), list[int]()
    courier.send(lambda: 1 / 0)
    courier.send(lambda: seen.append(1))
    with pytest.raises(ZeroDivisionError):
        courier.ask(lambda: seen.append(2))
    courier.ask(lambda: seen.append(3))
    assert seen == [3]
