"""What leaves operad: an OperadError, the user's line, and at most two frames of ours."""

from __future__ import annotations

import traceback
from pathlib import Path

import numpy as np
import pytest

import operad as od
from core.tests.frames import check_frames
from operad import config
from operad.boundary import boundary, shortened
from operad.errors import OperadError, ShapeError

pytestmark = pytest.mark.usefixtures("operators")


def bound():
    return od.sym.square(od.sym.var("x")).simple_bind(od.cpu(), x=(2,))


CALLS = {
    "an operator": lambda: od.nd.elemwise_add(od.nd.array([1, 2]), od.nd.array([1, 2, 3])),
    "a parameter": lambda: od.nd.square(od.nd.array([1]), no_such_parameter=1),
    "arithmetic": lambda: od.nd.array([1, 2]) + 1j,
    "an array of rows of different lengths": lambda: od.nd.array([[1], [1, 2]]),
    "a shape": lambda: od.nd.empty("text"),
    "an operator that is not there": lambda: od.nd.no_such_operator,
    "a symbol's argument": lambda: od.sym.square(3),
    "inference": lambda: (od.sym.square(od.sym.var("x")) + od.sym.var("y")).infer_shape(x=(2, 2), y=(3,)),
    "binding": lambda: od.sym.square(od.sym.var("x")).simple_bind(od.cpu()),
    "an executor's array": lambda: bound().forward(x=od.nd.array([1, 2, 3])),
    "a gradient of what was not recorded": lambda: od.nd.array([1.0]).backward(),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_an_error_is_of_the_tree_and_shows_at_most_two_frames_of_ours(call, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    check_frames(call, __file__)


def test_debug_mode_keeps_every_frame(monkeypatch):
    monkeypatch.setenv("OPERAD_DEBUG", "1")
    config.reload()
    try:
        with pytest.raises(ShapeError) as caught:
            od.nd.elemwise_add(od.nd.array([1, 2]), od.nd.array([1, 2, 3, 4]))
    finally:
        monkeypatch.undo()
        config.reload()
    assert len(traceback.extract_tb(caught.value.__traceback__)) > 3


def test_what_was_raised_is_the_cause_and_can_be_caught():
    @boundary
    def opens():
        return Path("no such folder/no such file").read_text(encoding="utf-8")

    with pytest.raises(FileNotFoundError) as caught:
        opens()
    assert isinstance(caught.value, OperadError)
    assert caught.value.filename == "no such folder/no such file"
    assert type(caught.value.__cause__) is FileNotFoundError


def test_a_cause_that_says_the_same_is_left_out():
    @boundary
    def infers():
        try:
            try:
                np.zeros((2,)).reshape((3,))
            except ValueError as error:
                raise ShapeError("inner") from error
        except ShapeError as error:
            raise ShapeError("outer") from error

    with pytest.raises(ShapeError, match="outer") as caught:
        infers()
    assert type(caught.value.__cause__) is ValueError
    assert caught.value.__cause__.__traceback__ is None


def test_errors_of_the_users_own_code_pass_through_what_calls_it_back():
    class OwnError(Exception):
        pass

    @shortened
    def calls_back():
        raise OwnError("mine")

    with pytest.raises(OwnError) as caught:
        calls_back()
    assert type(caught.value) is OwnError


def test_an_error_with_a_constructor_of_its_own_keeps_its_class():
    class AwkwardError(Exception):
        def __init__(self, one, two):
            super().__init__(f"{one} and {two}")
            self.one = one

    @boundary
    def fails():
        raise AwkwardError(1, 2)

    with pytest.raises(AwkwardError, match=r"^1 and 2$") as caught:
        fails()
    assert isinstance(caught.value, OperadError)
    assert caught.value.one == 1


def test_a_class_that_cannot_be_derived_from_is_told_in_the_message():
    class FinalError(Exception):
        def __init_subclass__(cls):
            raise TypeError("not to be derived from")

    @boundary
    def fails():
        raise FinalError("no")

    with pytest.raises(OperadError, match=r"^FinalError: no$"):
        fails()
