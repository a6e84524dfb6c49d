"""How errors of operations surface, on every engine."""

from __future__ import annotations

import threading

import pytest

from core.tests.engine.failing import CTX, chain, raising
from operad.engine import Engine, NaiveEngine, RunContext, ThreadedEngine, bulk


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


def test_a_failure_inside_a_group_spoils_only_its_own_chain(engine: Engine) -> None:
    a, b, c = (engine.new_variable() for _ in range(3))
    ran = []
    with bulk(10):
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
    with bulk(10):
        engine.push_sync(lambda _: ran.append("b"), CTX, (a,), (b,))
        engine.push_sync(lambda _: ran.append("c"), CTX, (), (c,))
        engine.push_sync(lambda _: ran.append("a"), CTX, (), (a,))
        engine.push_sync(lambda _: ran.append("again"), CTX, (a,), (c,))
    engine.wait_for_var(c)
    assert (sorted(ran[:2]), ran[2:]) == (["a", "c"], ["again"])  # "a" and "c" share no variable
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
