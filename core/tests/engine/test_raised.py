"""What a wait raises: the operation's own error, of its own class, as often as it is asked."""

from __future__ import annotations

import pickle
import traceback
from collections.abc import Callable

import numpy as np
import pytest

from core.tests.engine.failing import CTX, chain, raising
from operad.engine import Engine, RunContext
from operad.errors import OperadError, OperatorError, OperatorGroupError, ShapeError


def test_raising_again_adds_neither_traceback_nor_notes(engine: Engine) -> None:
    a, _, _ = chain(engine, ValueError("boom"))
    raised = []
    for _ in range(5):
        with pytest.raises(ValueError, match="boom") as caught:
            engine.wait_for_var(a)
        raised.append(caught.value)
    first, *later = raised
    (note,) = first.__notes__
    depths = [sum(1 for _ in traceback.walk_tb(error.__traceback__)) for error in later]
    assert len(set(depths)) == 1
    for error in later:
        kept, place = error.__notes__
        assert kept == note
        assert place.startswith("raised again; the first traceback ended at ")
        assert "failing.py:" in place
    assert len({id(error) for error in raised}) == 5


def test_a_copy_has_the_causes_of_the_original(engine: Engine) -> None:
    var = engine.new_variable()

    def fail(_: RunContext) -> None:
        try:
            raise KeyError("cause")
        except KeyError as cause:
            raise ValueError("boom") from cause

    engine.push_sync(fail, CTX, (), (var,))
    for _ in range(3):
        with pytest.raises(ValueError, match="boom") as caught:
            engine.wait_for_var(var)
        assert repr(caught.value.__cause__) == "ValueError('boom')"
        assert repr(caught.value.__cause__.__cause__) == "KeyError('cause')"


class AwkwardError(Exception):
    """An error whose arguments are not those of its constructor."""

    def __init__(self, shape: tuple[int, ...], axis: int) -> None:
        super().__init__(f"axis {axis} of {shape}")
        self.axis = axis


class FinalError(Exception):
    """An error whose class cannot be derived from."""

    def __init_subclass__(cls) -> None:
        raise TypeError("not to be derived from")


ERRORS = {
    "constructor of its own": lambda: AwkwardError((2, 3), 7),
    "OSError": lambda: OSError(2, "no such file", "a.rec"),
    "UnicodeError": lambda: UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad"),
    "SystemExit": lambda: SystemExit(3),
    "NumPy": lambda: np.linalg.LinAlgError("singular"),
    "group": lambda: ExceptionGroup("two", [ValueError(1), KeyError(2)]),
}


@pytest.mark.parametrize("make", ERRORS.values(), ids=ERRORS)
def test_errors_of_any_class_raise_again_as_they_are(
    engine: Engine, make: Callable[[], BaseException]
) -> None:
    error = make()
    var, state = engine.new_variable(), dict(vars(error))
    engine.push_sync(raising(error), CTX, (), (var,))
    for _ in range(3):
        with pytest.raises(type(error)) as caught:
            engine.wait_for_var(var)
        assert caught.value.args == error.args
        assert str(caught.value) == str(error)
        assert {key: value for key, value in vars(caught.value).items() if key != "__notes__"} == state
        assert isinstance(caught.value, OperadError) == isinstance(error, Exception)


def test_an_error_of_a_final_class_is_told_by_an_operator_error(engine: Engine) -> None:
    error, var = FinalError("no"), engine.new_variable()
    engine.push_sync(raising(error), CTX, (), (var,))
    for _ in range(2):
        with pytest.raises(OperatorError, match=r"^FinalError: no"):
            engine.wait_for_var(var)


def test_the_cause_is_the_exception_itself_at_the_first_raise(engine: Engine) -> None:
    error, var = ValueError("boom"), engine.new_variable()
    engine.push_sync(raising(error), CTX, (), (var,))
    with pytest.raises(OperatorError) as caught:
        engine.wait_for_var(var)
    assert caught.value.__cause__ is error
    assert type(caught.value).__name__ == "OperatorValueError"


def test_an_operad_error_is_raised_as_it_is(engine: Engine) -> None:
    error, var = ShapeError("(2, 3)"), engine.new_variable()
    engine.push_sync(raising(error), CTX, (), (var,))
    with pytest.raises(ShapeError) as caught:
        engine.wait_for_var(var)
    assert caught.value is error


def test_several_failures_are_an_operad_error_and_a_group(engine: Engine) -> None:
    for error in (ValueError("one"), KeyError("two")):
        engine.push_sync(raising(error), CTX, (), (engine.new_variable(),))
    with pytest.raises(OperatorGroupError) as caught:
        engine.wait_for_all()
    assert [type(error.__cause__) for error in caught.value.exceptions] == [ValueError, KeyError]
    part = caught.value.subgroup(KeyError)
    assert isinstance(part, OperatorGroupError)
    assert len(part.exceptions) == 1


def test_an_operator_error_survives_pickling(engine: Engine) -> None:
    var = engine.new_variable()
    engine.push_sync(raising(np.linalg.LinAlgError("singular")), CTX, (), (var,))
    with pytest.raises(OperadError) as caught:
        engine.wait_for_var(var)
    read = pickle.loads(pickle.dumps(caught.value))
    assert isinstance(read, np.linalg.LinAlgError)
    assert isinstance(read, OperatorError)
    assert str(read) == "singular"
