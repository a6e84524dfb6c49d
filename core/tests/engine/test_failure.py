"""How errors of operations surface, on every engine."""

from __future__ import annotations

import inspect
import pickle
import threading
import traceback
from collections.abc import Callable

import numpy as np
import pytest

from operad.context import cpu
from operad.engine import Engine, NaiveEngine, OperatorName, RunContext, ThreadedEngine
from operad.engine.var import Var
from operad.errors import OperadError, OperatorError, OperatorGroupError, ShapeError

CTX = cpu()


def raising(error: BaseException):
    def fn(*_: object) -> None:
        raise error

    return fn


def chain(engine: Engine, error: BaseException) -> tuple[Var, Var, Var]:
    a, b, c = (engine.new_variable(name) for name in "abc")
    engine.push_sync(raising(error), CTX, (), (a,), name="a")
    engine.push_sync(lambda _: None, CTX, (a,), (b,), name="b")
    engine.push_sync(lambda _: None, CTX, (b,), (c,), name="c")
    return a, b, c


def test_pushing_what_fails_does_not_raise_and_later_work_goes_on(engine: Engine) -> None:
    a, _, _ = chain(engine, ValueError("boom"))
    other, ran = engine.new_variable(), []
    engine.push_sync(ran.append, CTX, (), (other,))
    engine.wait_for_var(other)
    assert len(ran) == 1
    with pytest.raises(ValueError, match="boom"):
        engine.wait_for_var(a)


@pytest.mark.parametrize("first", [0, 1, 2])
def test_a_chain_raises_the_original_wherever_it_is_met_first_and_again_at_every_wait(
    engine: Engine, first: int
) -> None:
    error = ValueError("boom")
    variables = chain(engine, error)
    with pytest.raises(ValueError, match="boom") as caught:
        engine.wait_for_var(variables[first])
    assert caught.value.__cause__ is error
    for var in (*variables, *variables):
        for wait in (engine.wait_for_var, engine.wait_to_write):
            with pytest.raises(ValueError, match=r"^boom"):
                wait(var)
    engine.wait_for_all()


def test_wait_for_all_raises_the_chain_once(engine: Engine) -> None:
    variables = chain(engine, ValueError("boom"))
    with pytest.raises(ValueError, match="boom"):
        engine.wait_for_all()
    engine.wait_for_all()
    for var in variables:
        with pytest.raises(ValueError, match="boom"):
            engine.wait_for_var(var)


def test_wait_for_all_keeps_quiet_about_what_a_variable_has_raised(engine: Engine) -> None:
    a, _, _ = chain(engine, ValueError("boom"))
    with pytest.raises(ValueError, match="boom"):
        engine.wait_for_var(a)
    engine.wait_for_all()


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
        assert "test_failure.py:" in place
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


def test_wait_to_write_raises_too(engine: Engine) -> None:
    _, _, c = chain(engine, ValueError("boom"))
    with pytest.raises(ValueError, match="boom"):
        engine.wait_to_write(c)


def test_functions_that_read_a_failed_variable_do_not_run(engine: Engine) -> None:
    a, b, ran = engine.new_variable(), engine.new_variable(), []
    engine.push_sync(raising(ValueError("boom")), CTX, (), (a,))
    engine.push_sync(ran.append, CTX, (a,), (b,))
    engine.push_async(lambda _, done: (ran.append(0), done()), CTX, (b,), ())
    with pytest.raises(ValueError, match="boom"):
        engine.wait_for_all()
    assert ran == []


def test_an_overwritten_variable_is_clean_but_its_failure_is_not_lost(engine: Engine) -> None:
    var, ran = engine.new_variable(), []
    engine.push_sync(raising(ValueError("boom")), CTX, (), (var,))
    engine.push_sync(ran.append, CTX, (), (var,))
    engine.wait_for_var(var)
    assert len(ran) == 1
    with pytest.raises(ValueError, match="boom"):
        engine.wait_for_all()


def test_an_update_in_place_is_skipped_until_the_variable_is_overwritten(engine: Engine) -> None:
    var, ran = engine.new_variable(), []
    engine.push_sync(raising(ValueError("boom")), CTX, (), (var,))
    for _ in range(2):
        engine.push_sync(ran.append, CTX, (), (var,), reads_mutable=True)
        with pytest.raises(ValueError, match="boom"):
            engine.wait_for_var(var)
    assert ran == []
    engine.push_sync(lambda _: None, CTX, (), (var,))
    engine.push_sync(ran.append, CTX, (), (var,), reads_mutable=True)
    engine.wait_for_var(var)
    assert len(ran) == 1


def test_only_the_variables_whose_old_contents_matter_skip_an_operation(engine: Engine) -> None:
    kept, scratch, ran = engine.new_variable("kept"), engine.new_variable("scratch"), []
    engine.push_sync(raising(ValueError("boom")), CTX, (), (scratch,))
    engine.push_sync(ran.append, CTX, (), (kept, scratch), reads_mutable=[kept])
    for var in (kept, scratch):
        engine.wait_for_var(var)
    assert len(ran) == 1
    engine.push_sync(raising(ValueError("boom")), CTX, (), (kept,))
    engine.push_sync(ran.append, CTX, (), (kept, scratch), reads_mutable=[kept])
    for var in (kept, scratch):
        with pytest.raises(ValueError, match="boom"):
            engine.wait_for_var(var)
    assert len(ran) == 1
    with pytest.raises(ValueError, match="boom"):  # the first failure, whose variable was overwritten
        engine.wait_for_all()


def test_readers_are_skipped_after_the_failure_was_raised_too(engine: Engine) -> None:
    _, b, c = chain(engine, ValueError("boom"))
    d, ran = engine.new_variable(), []
    with pytest.raises(ValueError, match="boom"):
        engine.wait_for_var(c)
    engine.push_sync(ran.append, CTX, (b,), (d,))
    with pytest.raises(ValueError, match="boom"):
        engine.wait_for_var(d)
    engine.wait_for_all()
    assert ran == []


def test_the_inline_path_is_closed_while_a_variable_carries_a_failure(engine: Engine) -> None:
    _, b, c = chain(engine, ValueError("boom"))
    ran = []
    for _ in range(2):
        assert not engine.run_inline(ran.append, (1,), CTX, (b,), (), None)
        assert not engine.run_inline(ran.append, (1,), CTX, (), (c,), None)
        with pytest.raises(ValueError, match="boom"):
            engine.wait_for_var(c)
    for var in (b, c):
        engine.push_sync(lambda _: None, CTX, (), (var,))
    engine.wait_for_all()
    assert engine.run_inline(ran.append, (1,), CTX, (b,), (c,), None)
    assert ran == [1]


def test_a_failure_holds_on_the_next_engine_too() -> None:
    one, two = NaiveEngine(), ThreadedEngine(1)
    a, b, c = chain(one, ValueError("boom"))
    with pytest.raises(ValueError, match="boom"):
        one.stop()
    d, ran = two.new_variable(), []
    two.push_sync(ran.append, CTX, (c,), (d,))
    for var in (a, b, c, d):
        with pytest.raises(ValueError, match="boom"):
            two.wait_for_var(var)
    two.stop()
    assert ran == []


def test_of_independent_failures_a_read_raises_the_earliest_and_none_is_lost(
    engine: Engine,
) -> None:
    a, b, c = (engine.new_variable() for _ in range(3))
    engine.push_sync(raising(ValueError("first")), CTX, (), (a,))
    engine.push_sync(raising(KeyError("second")), CTX, (), (b,))
    engine.push_sync(lambda _: None, CTX, (b, a), (c,))
    for _ in range(2):
        with pytest.raises(ValueError, match="first"):
            engine.wait_for_var(c)
    with pytest.raises(KeyError, match="second"):
        engine.wait_for_all()
    engine.wait_for_all()


def test_wait_for_all_groups_several_failures_in_push_order(engine: Engine) -> None:
    for text in ("one", "two", "three"):
        engine.push_sync(raising(ValueError(text)), CTX, (), (engine.new_variable(),))
    with pytest.raises(ExceptionGroup) as caught:
        engine.wait_for_all()
    assert [str(error) for error in caught.value.exceptions] == ["one", "two", "three"]
    engine.wait_for_all()


def test_which_error_surfaces_first_does_not_depend_on_which_is_raised_first(
    threaded: ThreadedEngine,
) -> None:
    a, b, c = (threaded.new_variable() for _ in range(3))
    second_raised = threading.Event()

    def slow(_: RunContext) -> None:
        second_raised.wait()
        raise ValueError("pushed first")

    def quick(_: RunContext) -> None:
        second_raised.set()
        raise KeyError("raised first")

    threaded.push_sync(slow, CTX, (), (a,))
    threaded.push_sync(quick, CTX, (), (b,))
    threaded.push_sync(lambda _: None, CTX, (a, b), (c,))
    with pytest.raises(ValueError, match="pushed first"):
        threaded.wait_for_var(c)
    with pytest.raises(KeyError):
        threaded.wait_for_all()


def test_whether_an_operation_is_skipped_does_not_depend_on_the_wait(
    threaded: ThreadedEngine,
) -> None:
    a, gate_var, b, c = (threaded.new_variable() for _ in range(4))
    gate, ran = threading.Event(), []
    threaded.push_sync(raising(ValueError("boom")), CTX, (), (a,))
    threaded.push_sync(lambda _: gate.wait(), CTX, (), (gate_var,))
    threaded.push_sync(lambda _: ran.append("before"), CTX, (a, gate_var), (b,))
    with pytest.raises(ValueError, match="boom"):
        threaded.wait_for_var(a)
    threaded.push_sync(lambda _: ran.append("after"), CTX, (a, gate_var), (c,))
    gate.set()
    for var in (b, c):
        with pytest.raises(ValueError, match="boom"):
            threaded.wait_for_var(var)
    assert ran == []


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(3), GeneratorExit()])
def test_base_exceptions_surface_at_the_wait_and_kill_no_worker(engine: Engine, error: BaseException) -> None:
    var, ran = engine.new_variable(), []
    engine.push_sync(raising(error), CTX, (), (var,))
    with pytest.raises(type(error)):
        engine.wait_for_var(var)
    engine.push_sync(ran.append, CTX, (), (var,))
    engine.wait_for_all()
    assert len(ran) == 1


def test_inline_errors_surface_at_the_wait_with_the_push_site(engine: Engine) -> None:
    var, reader, ran = engine.new_variable(), engine.new_variable(), []
    assert engine.run_inline(raising(ValueError("boom")), (), CTX, (), (var,), "tanh 'act'")
    engine.push_sync(ran.append, CTX, (var,), (reader,))
    with pytest.raises(ValueError, match="boom") as caught:
        engine.wait_for_var(reader)
    (note,) = caught.value.__notes__
    assert note.startswith("tanh 'act' failed (pushed at ")
    assert "test_failure.py:" in note
    assert ran == []


def test_the_note_of_a_threaded_failure_names_the_operation_and_the_next_step(
    threaded: ThreadedEngine,
) -> None:
    var = threaded.new_variable()
    threaded.push_sync(raising(ValueError("boom")), CTX, (), (var,), name="Convolution 'conv2'")
    with pytest.raises(ValueError, match="boom") as caught:
        threaded.wait_for_var(var)
    (note,) = caught.value.__notes__
    assert note.startswith("Convolution 'conv2' failed (pushed at ")
    assert note.endswith("set OPERAD_ENGINE=naive to run it in the calling thread")


def test_the_note_of_a_failure_names_the_line_that_pushed(engine: Engine) -> None:
    var = engine.new_variable()
    opr = engine.new_operator(raising(ValueError("boom")), (), (var,), name="fc1")
    line = inspect.currentframe().f_lineno + 1  # type: ignore[union-attr]  # CPython has frames
    engine.push(opr, CTX)
    with pytest.raises(ValueError, match="boom") as caught:
        engine.wait_for_var(var)
    assert f"fc1 failed (pushed at {__file__}:{line})" in caught.value.__notes__[0]


def test_the_note_of_a_failed_operator_names_its_plugin(engine: Engine) -> None:
    var = engine.new_variable()
    name = OperatorName("tanh", "acme-ops 1.2")
    engine.push_sync(raising(ValueError("boom")), CTX, (), (var,), name=name)
    with pytest.raises(ValueError, match="boom") as caught:
        engine.wait_for_var(var)
    assert "tanh (acme-ops 1.2) failed (pushed at " in caught.value.__notes__[0]


def test_notes_that_the_operation_added_itself_are_kept(engine: Engine) -> None:
    error = ValueError("boom")
    error.add_note("while reading part 7")
    var = engine.new_variable()
    engine.push_sync(raising(error), CTX, (), (var,), name="read")
    with pytest.raises(ValueError, match="boom") as caught:
        engine.wait_for_var(var)
    own, added = caught.value.__notes__
    assert own == "while reading part 7"
    assert added.startswith("read failed")


def test_a_failure_inside_a_group_spoils_only_its_own_chain(engine: Engine) -> None:
    a, b, c = (engine.new_variable() for _ in range(3))
    ran = []
    with engine.bulk(10):
        engine.push_sync(raising(ValueError("boom")), CTX, (), (a,))
        engine.push_sync(lambda _: ran.append("b"), CTX, (a,), (b,))
        engine.push_sync(lambda _: ran.append("c"), CTX, (), (c,))
    engine.wait_for_var(c)
    assert ran == ["c"]
    with pytest.raises(ValueError, match="boom"):
        engine.wait_for_var(b)
    engine.wait_for_all()


def test_a_failure_before_a_group_skips_only_the_members_that_read_it(engine: Engine) -> None:
    a, b, c = (engine.new_variable() for _ in range(3))
    ran = []
    engine.push_sync(raising(ValueError("boom")), CTX, (), (a,))
    with engine.bulk(10):
        engine.push_sync(lambda _: ran.append("b"), CTX, (a,), (b,))
        engine.push_sync(lambda _: ran.append("c"), CTX, (), (c,))
        engine.push_sync(lambda _: ran.append("a"), CTX, (), (a,))
        engine.push_sync(lambda _: ran.append("again"), CTX, (a,), (c,))
    engine.wait_for_var(c)
    assert ran == ["c", "a", "again"]
    with pytest.raises(ValueError, match="boom"):
        engine.wait_for_all()


def test_a_failed_deletion_surfaces_at_wait_for_all(engine: Engine) -> None:
    engine.delete_variable(raising(ValueError("boom")), CTX, engine.new_variable())
    with pytest.raises(ValueError, match="boom"):
        engine.wait_for_all()


def test_a_deletion_runs_though_the_variable_failed(engine: Engine) -> None:
    var, ran = engine.new_variable(), []
    engine.push_sync(raising(ValueError("boom")), CTX, (), (var,))
    engine.delete_variable(ran.append, CTX, var)
    with pytest.raises(ValueError, match="boom"):
        engine.wait_for_all()
    assert len(ran) == 1


def test_stop_raises_what_nobody_heard_of(engine: Engine) -> None:
    engine.push_sync(raising(ValueError("boom")), CTX, (), (engine.new_variable(),))
    with pytest.raises(ValueError, match="boom"):
        engine.stop()


def test_both_engines_agree_on_any_program_with_failures() -> None:
    """Same program, same waits: the same errors surface at the same places on every engine."""
    import random

    def observe(make) -> list[str]:
        source, engine, seen = random.Random(7), make(), []
        variables = [engine.new_variable(str(i)) for i in range(6)]

        def note(call, *arguments) -> None:
            try:
                call(*arguments)
            except Exception as error:  # noqa: BLE001 - the group and the errors alike are observed
                seen.append(repr(error))

        for step in range(3000):
            named = source.sample(variables, source.randint(1, 4))
            cut, is_update = source.randint(0, len(named) - 1), source.random() < 0.3
            fn = raising(ValueError(step)) if source.random() < 0.2 else lambda _: None
            engine.push_sync(fn, CTX, named[:cut], named[cut:], reads_mutable=is_update)
            if source.random() < 0.1:
                note(engine.wait_for_var, source.choice(variables))
            if source.random() < 0.01:
                note(engine.wait_for_all)
        note(engine.stop)
        return seen

    expected = observe(NaiveEngine)
    assert len(expected) > 100
    for workers in (1, 2, 4):
        assert observe(lambda workers=workers: ThreadedEngine(workers)) == expected
