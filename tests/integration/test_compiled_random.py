"""The judge: a compiled function gives the bits of the eager one, or raises TraceError.

Random programs are called eagerly and compiled, several times each: recorded and not, in training and in
prediction, with other numbers and other requests for gradients. Results, gradients, states, captured arrays
and the numbers that are drawn next must have the same bits. Graphs are bound with clusters that give the bits
of single operators (`OPERAD_FUSION=exact`), and with products as they are (`OPERAD_HOISTING=off`): what those
passes round otherwise is for the tests of bound graphs. Every fourth program runs with a hook, call by call.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

import operad as od
from operad.errors import OperadError, TraceError
from tests.integration.compiled_programs import Program, drawn_program, drawn_setting

FEW, MORE, MANY = 12, 200, 2000


class Call(NamedTuple):
    """One call of a program.

    Attributes:
        arrays: Seed of the arguments.
        head: Which result is differentiated: all, or the first.
        passes: How often backward runs.
    """

    arrays: int
    is_train: bool
    is_recorded: bool
    rate: float
    flag: bool
    head: str
    passes: int


def drawn_calls(draw: random.Random) -> list[Call]:
    calls = []
    for _ in range(draw.randrange(2, 5)):
        is_recorded = draw.random() < 0.7
        is_train = draw.random() < 0.7 if is_recorded else draw.random() < 0.2
        rate, passes = draw.choice([0.25, 0.25, 0.5, -1.5]), draw.choice([1, 1, 1, 2])
        calls.append(
            Call(
                draw.randrange(5),
                is_train,
                is_recorded,
                rate,
                draw.random() < 0.3,
                draw.choice(["all", "first"]),
                passes,
            )
        )
    return calls


def bits(value: Any) -> Any:
    if isinstance(value, od.NDArray):
        return value.shape, value.asnumpy().tobytes()
    if isinstance(value, dict):
        return {name: bits(one) for name, one in value.items()}
    return [bits(one) for one in value] if isinstance(value, (list, tuple)) else value


def flat(value: Any) -> list[Any]:
    if isinstance(value, dict):
        value = list(value.values())
    return [each for one in value for each in flat(one)] if isinstance(value, (list, tuple)) else [value]


def outcome(
    program: Program, seed: int, calls: list[Call], requests: list[str], compiled: Callable[[Any], Any]
) -> list[Any]:
    """All that can be seen of some calls, which ends with the first error."""
    setting, _ = drawn_setting(program, seed)
    for weight, request in zip(setting.weights, requests, strict=True):
        if request != "none":
            weight.attach_grad(request)

    def function(first: Any, second: Any, rate: float, flag: bool) -> Any:
        return program([first, second], setting._replace(rate=rate, flag=flag))

    function = compiled(function)
    od.random.seed(seed)
    seen: list[Any] = []
    live: list[Any] = []
    for call in calls:
        _, arguments = drawn_setting(program, call.arrays)
        if call.arrays % 2:
            arguments[0].attach_grad()
        for weight, request in zip(setting.weights, requests, strict=True):
            if request == "write":  # a compiled call writes 0 where no head depends on it
                weight.grad[:] = 0
        try:
            results, found = observed(function, arguments, call)
        except TraceError:
            raise
        except OperadError as error:
            seen.append(type(error).__name__)
            break
        live.append(results)
        seen += [bits(results), found, bits(arguments), bits(list(setting.states)), bits(setting.constants)]
        # Results that are no heads count with gradients of 0, which signs of zeros show.
        shown = (lambda grad: grad + 0.0) if call.head == "first" else (lambda grad: grad)
        seen += [None if x.grad is None else bits(shown(x.grad)) for x in (*setting.weights, *arguments)]
        seen.append(bits(od.nd.random.uniform(shape=(4,))))
    return [*seen, bits(live)]


def observed(function: Callable[..., Any], arguments: list[Any], call: Call) -> tuple[Any, Any]:
    mode = od.autograd.train_mode() if call.is_train else od.autograd.predict_mode()
    if call.is_recorded:
        mode = od.autograd.record(call.is_train)
    with mode:
        results = function(*arguments, call.rate, call.flag)
        heads = [
            x for x in flat(results) if x._autograd is not None and not any(x is one for one in arguments)
        ]
    if not call.is_recorded or not heads:
        return results, None
    heads = heads if call.head == "all" else heads[:1]
    for number in range(call.passes):
        od.autograd.backward(heads, retain_graph=number < call.passes - 1, train_mode=call.is_train)
    return results, len(heads)


def hooked(function: Callable[..., Any]) -> Any:
    """The compiled function while its values are shown, call by call."""
    made = od.compile(function)
    made.register_op_hook(lambda *_: None, monitor_all=True)
    return made


def judged(seed: int) -> str:
    """Draw a program, and compare; returns what became of it: `same`, `refused` or `failed`."""
    draw = random.Random(seed)
    program, calls = drawn_program(draw), drawn_calls(draw)
    requests = [draw.choice(["write", "write", "add", "null", "none"]) for _ in range(4)]
    eager = outcome(program, seed, calls, requests, lambda function: function)
    compile = od.compile if seed % 4 else hooked
    try:
        compiled = outcome(program, seed, calls, requests, compile)
    except TraceError as error:
        if not program.may_refuse:
            raise AssertionError(f"{program} of seed {seed} is refused") from error
        return "refused"
    has_failed = any(isinstance(each, str) for each in eager)
    count = next((i for i, each in enumerate(eager) if isinstance(each, str)), None)
    assert eager[:count] == compiled[:count], f"{program} of seed {seed} differs; {calls}, {requests}"
    return "failed" if has_failed else "same"


@pytest.fixture(autouse=True)
def _exact(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPERAD_FUSION", "exact")
    monkeypatch.setenv("OPERAD_HOISTING", "off")


@pytest.mark.parametrize(
    "count",
    [
        FEW,
        pytest.param(MORE, marks=pytest.mark.more),
        pytest.param(MANY, marks=pytest.mark.slow),
    ],
)
def test_a_compiled_function_gives_the_bits_of_the_eager_one_or_refuses(count: int, drawn_seed: int) -> None:
    found = [judged(drawn_seed + number) for number in range(count)]
    assert found.count("same") > count / 4  # a few refusals in a row are chance
