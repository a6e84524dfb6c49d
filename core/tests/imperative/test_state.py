"""The mode of a thread: recording, training, both or neither."""

from __future__ import annotations

import threading

import pytest

from operad.imperative import Scope, is_recording, is_training, set_recording, set_training, unrecorded


@pytest.fixture(autouse=True)
def quiet():
    before = set_recording(False), set_training(False)
    yield
    set_recording(before[0])
    set_training(before[1])


def mode():
    return is_recording(), is_training()


def test_each_is_switched_without_the_other_and_what_was_is_told():
    assert set_recording(True) is False
    assert mode() == (True, False)
    assert set_training(True) is False
    assert set_recording(False) is True
    assert mode() == (False, True)


@pytest.mark.parametrize("recording", [True, False, None])
@pytest.mark.parametrize("training", [True, False, None])
@pytest.mark.parametrize("before", [(True, False), (False, True)])
def test_a_scope_sets_what_is_given_leaves_the_rest_and_puts_both_back(before, recording, training):
    set_recording(before[0])
    set_training(before[1])
    with Scope(recording, training):
        expected = [
            old if new is None else new for old, new in zip(before, (recording, training), strict=True)
        ]
        assert mode() == tuple(expected)
    assert mode() == before


def test_a_scope_is_left_by_an_exception_too():
    with pytest.raises(KeyError), Scope(True, True):
        raise KeyError("left")
    assert mode() == (False, False)


def test_nothing_is_recorded_inside_and_training_stays():
    set_recording(True)
    set_training(True)
    with unrecorded():
        assert mode() == (False, True)
    assert mode() == (True, True)


def test_a_mode_is_the_threads_own():
    set_recording(True)
    seen = []
    thread = threading.Thread(target=lambda: seen.append(mode()))
    thread.start()
    thread.join()
    assert seen == [(False, False)]
