"""Operations as they are pushed: what is refused before anything holds them."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from operad.device import Context, cpu
from operad.engine import Engine, RunContext
from operad.engine.budget import ThreadBudget
from operad.engine.operation import NEW, Opr, OprBlock
from operad.engine.var import Var
from operad.errors import (
    DuplicateVarError,
    EngineError,
)

CTX = cpu()


def test_a_prepared_operator_may_be_pushed_while_it_is_pending(engine: Engine) -> None:
    var, ran = engine.new_variable(), []
    opr = engine.new_operator(lambda _: ran.append(len(ran)), (), (var,))
    for _ in range(100):
        engine.push(opr, CTX)
    engine.wait_for_var(var)
    assert ran == list(range(100))


def test_a_deleted_operator_runs_what_was_pushed_and_refuses_more(engine: Engine) -> None:
    var, ran = engine.new_variable(), []
    opr = engine.new_operator(ran.append, (), (var,), name="gone")
    engine.push(opr, CTX)
    engine.delete_operator(opr)
    with pytest.raises(EngineError, match="'gone': the operator was deleted"):
        engine.push(opr, CTX)
    engine.wait_for_all()
    assert len(ran) == 1


@pytest.mark.parametrize("lists", [((0, 0), ()), ((), (0, 0)), ((0,), (0,))])
def test_a_variable_named_twice_is_refused(engine: Engine, lists: tuple) -> None:
    var = engine.new_variable("w_grad")
    reads, writes = ([var for _ in names] for names in lists)
    with pytest.raises(DuplicateVarError, match="w_grad"):
        engine.push_sync(lambda _: None, CTX, reads, writes)
    with pytest.raises(DuplicateVarError):
        engine.new_operator(lambda _: None, reads, writes)


MISUSES = {
    "no function": ({"fn": None}, "fn is None, expected a function"),
    "a number as function": ({"fn": 3}, "fn is 3, expected a function"),
    "a number as variable": ({"const_vars": (3,)}, r"const_vars has 3, expected variables; make one with"),
    "a number to write": ({"mutable_vars": (3,)}, "mutable_vars has 3, expected variables"),
    "an array as variable": (
        {"mutable_vars": [np.ones(2)]},
        r"mutable_vars has array\(.*, expected variables",
    ),
    "None as variable": ({"const_vars": [None]}, "const_vars has None, expected variables"),
    "no list": ({"const_vars": 3}, "const_vars is 3, expected variables"),
    "None as list": ({"mutable_vars": None}, "mutable_vars is None, expected variables"),
    "text as list": ({"mutable_vars": "ab"}, "mutable_vars has 'a', expected variables"),
    "text as property": ({"prop": "async"}, "prop is 'async', expected an FnProperty"),
    "a list as property": ({"prop": []}, r"prop is \[\], expected an FnProperty"),
    "no context": ({"ctx": None}, "ctx is None and priority 0, expected a Context"),
    "text as context": ({"ctx": "cpu"}, "ctx is 'cpu' and priority 0, expected a Context"),
    "a fraction as priority": ({"priority": 1.5}, "priority 1.5, expected a Context and an integer"),
    "arrays as old contents": ({"reads_mutable": 3}, "reads_mutable is 3, expected variables"),
}


@pytest.mark.walk
@pytest.mark.parametrize(("wrong", "message"), MISUSES.values(), ids=MISUSES)
@pytest.mark.parametrize("method", ["push_sync", "push_async", "new_operator"])
def test_what_cannot_run_is_refused_where_it_is_pushed(
    engine: Engine, method: str, wrong: dict[str, object], message: str
) -> None:
    var = engine.new_variable()
    given = {"fn": lambda *_: None, "ctx": CTX, "mutable_vars": (var,), "name": "careless", **wrong}
    if method == "new_operator":
        for name in ("ctx", "priority"):
            if name in wrong:
                opr = engine.new_operator(lambda _: None, name="careless")
                with pytest.raises(EngineError, match=f"push of 'careless': .*{message}"):
                    engine.push(opr, **{"ctx": CTX, **wrong})  # type: ignore[arg-type]
                return
        del given["ctx"]
    with pytest.raises(EngineError, match=f"push of 'careless': .*{message}"):
        getattr(engine, method)(**given)
    assert var.version == 0
    engine.wait_for_all()


def test_only_prepared_operators_can_be_pushed(engine: Engine) -> None:
    with pytest.raises(EngineError, match="expected what new_operator"):
        engine.push(lambda _: None, CTX)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [{"ctx": "cpu"}, {"ctx": CTX, "priority": "high"}])
def test_a_push_to_no_context_or_of_no_priority_is_refused_and_leaves_no_trace(
    engine: Engine, wrong: dict
) -> None:
    var, log = engine.new_variable(), []
    with pytest.raises(EngineError, match="expected a Context and an integer"):
        engine.push_sync(log.append, const_vars=(), mutable_vars=(var,), **wrong)
    engine.push_sync(log.append, CTX, (), (var,))
    engine.wait_for_all()
    assert len(log) == 1


def test_an_operation_without_a_name_is_called_after_its_function() -> None:
    def scale(_: RunContext) -> None: ...

    assert Opr(scale).title.endswith("scale")
    assert Opr(scale, name="half").title == "half"
    assert Opr(partial(scale)).title == "operation"


def test_old_contents_that_matter_are_those_of_all_or_of_the_named_variables() -> None:
    a, b = Var(), Var()
    assert Opr(print, (), (a, b)).updated_vars == ()
    assert Opr(print, (), (a, b), reads_mutable=True).updated_vars == (a, b)
    assert Opr(print, (), (a, b), reads_mutable={b}).updated_vars == (b,)


def test_a_block_is_new_and_sorted_by_falling_priority() -> None:
    low, high = (OprBlock(Opr(print), CTX, priority) for priority in (-1, 7))
    assert (low.state, low.seq, low.is_gpu) == (NEW, 0, False)
    assert high.order < low.order
    assert OprBlock(Opr(print), Context("gpu", 0)).is_gpu


def test_a_run_outside_an_engine_has_one_thread_and_no_stream() -> None:
    run_ctx = RunContext(CTX)
    assert (run_ctx.num_threads, run_ctx.stream) == (1, None)
    assert RunContext(CTX, None, ThreadBudget(3)).num_threads == 3
