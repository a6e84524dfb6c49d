"""Operators made of operators, in files, under passes of plugins, and among the commands."""

from __future__ import annotations

import numpy as np
import pytest

import operad as od
from operad import registry
from operad.cli.describe import description
from operad.cli.why import kernel_choice
from operad_sdk import Contract, composed, param
from operad_sdk.check import Status, check_operator


def by_definition(data, beta):
    return data / (1 + np.exp(-beta * data))


@composed("integration_swish", accepts="floating", contract=Contract(reference=by_definition))
def swish(data: od.Symbol, beta: float = param(float, 1.0, doc="Steepness.")) -> od.Symbol:
    """`x sigmoid(beta x)`.

    Shapes:
        data: Any.
        output: As data.

    Example:
        >>> import operad as od
        >>> od.nd.integration_swish(od.nd.array([0.0])).asnumpy()
        array([0.], dtype=float32)
    """
    return data * od.sym.sigmoid(beta * data)


@pytest.fixture(autouse=True, scope="module")
def registered():
    registry.register(swish)
    yield
    registry.unregister(swish.name)


def networks() -> list[od.Symbol]:
    """One network, of the operator and written out."""
    x = od.sym.FullyConnected(od.sym.var("data"), num_hidden=3, name="fc")
    return [od.sym.integration_swish(x, beta=2, name="act"), x * od.sym.sigmoid(2.0 * x)]


def results(net: od.Symbol) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    executor = net.simple_bind(data=(4, 5))
    for array in executor.arg_dict.values():
        array[...] = od.nd.array(rng.standard_normal(array.shape))
    (out,) = executor.forward(is_train=True)
    executor.backward(od.nd.ones(out.shape))
    return [out.asnumpy(), *[grad.asnumpy() for grad in executor.grad_dict.values()]]


@pytest.mark.parametrize("fusion", ["on", "off"])
def test_it_computes_bit_for_bit_what_its_formula_does(fusion, monkeypatch) -> None:
    monkeypatch.setenv("OPERAD_FUSION", fusion)
    od.config.reload()
    try:
        made, written = map(results, networks())
    finally:
        monkeypatch.undo()
        od.config.reload()
    for mine, theirs in zip(made, written, strict=True):
        np.testing.assert_array_equal(mine, theirs)


CHECKS = [
    "F201",
    "F202",
    "F210",
    "F213",
    "B301",
    "B305",
    "B312",
    "M401",
    "M402",
    "R501",
    "R503",
    "D601",
    "S108",
]


@pytest.mark.more
def test_the_checks_that_find_most_pass_and_none_says_nothing() -> None:
    report = check_operator(swish, checks=CHECKS)
    assert [outcome.check_id for outcome in report.outcomes if outcome.status is not Status.PASSED] == [
        "B312"
    ]
    assert report.red_ids == []


@pytest.mark.slow
def test_every_contract_check_is_green() -> None:
    assert check_operator(swish).red_ids == []


def test_plans_need_no_more_nodes_and_memory_than_its_formula() -> None:
    made, written = [net.simple_bind(data=(4, 5)).passes[-1] for net in networks()]
    assert (made.nodes_after, made.planned_bytes) == (written.nodes_after, written.planned_bytes)


def test_a_file_keeps_the_operator() -> None:
    net = networks()[0]
    again = od.sym.load_json(net.tojson())
    assert '"integration_swish"' in net.tojson()
    assert again.list_outputs() == ["act_output"]
    for mine, theirs in zip(results(net), results(again), strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_a_second_gradient_is_that_of_the_formula() -> None:
    found = []
    for function in (od.nd.integration_swish, lambda x: x * od.nd.sigmoid(x)):
        x = od.nd.array([0.5, -1.0])
        x.attach_grad()
        with od.autograd.record():
            (slope,) = od.autograd.grad(function(x), [x], create_graph=True)
        slope.backward()
        found.append(x.grad.asnumpy())
    np.testing.assert_array_equal(*found)


def test_a_monitor_shows_the_output_under_its_name() -> None:
    executor = networks()[0].simple_bind(data=(4, 5))
    seen = []
    executor.set_monitor_callback(lambda name, array: seen.append(name))
    executor.forward()
    assert seen[-1] == "act_output"
    assert "act_sigmoid0_output" in seen


def test_commands_name_the_parts() -> None:
    found = description("integration_swish", {})
    assert found.made_of == ["_mul_scalar", "sigmoid", "elemwise_mul"]
    assert found.kernels == []
    why = kernel_choice(swish(), [(2,)], [np.dtype("float32")], od.cpu(), "")
    assert why.made_of == found.made_of
    assert why.exit_code == 0
