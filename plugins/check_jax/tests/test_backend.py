"""JAX as a library of the checks; skipped where JAX is not installed."""

from __future__ import annotations

import numpy as np
import pytest

jax = pytest.importorskip("jax", reason="JAX is an extra")
jnp = pytest.importorskip("jax.numpy")

from operad_check_jax import check_jax  # noqa: E402 - after the skip
from operad_check_jax.backend import JaxBackend  # noqa: E402 - likewise
from operator_sdk.check.tests.foreign.reports import failure  # noqa: E402 - likewise

pytestmark = pytest.mark.filterwarnings("default")  # JAX warns of its own

LINE = "x:(...) -> y:(...)"


@pytest.fixture
def backend():
    return JaxBackend()


def test_an_array_is_a_copy(backend):
    array = np.zeros(3)
    made = backend.array(array)
    array[0] = 1
    assert made.tolist() == [0, 0, 0]
    assert made.dtype == np.float64


def test_results_that_are_no_numbers_have_no_gradient(backend):
    arrays = [jnp.array([1.0, 3.0])]
    _, pull = backend.vjp(lambda x: (jnp.argmax(x), x * 2), arrays, [0])
    (gradient,) = pull([None, jnp.ones(2)])
    assert gradient.tolist() == [2, 2]


@pytest.mark.timeout(600)  # each operation is compiled for each shape
def test_a_right_function_is_green():
    assert check_jax("jax.nn:softplus", LINE).red_ids == []


@jax.custom_vjp
def doubled(x):
    return x * 2


doubled.defvjp(lambda x: (x * 2, None), lambda _, g: (g * 3,))


@jax.custom_jvp
def tripled(x):
    return x * 3


@tripled.defjvp
def _(primals, tangents):
    return tripled(primals[0]), tangents[0] * 2


@pytest.mark.parametrize("function", [doubled, tripled], ids=["vjp", "jvp"])
def test_a_wrong_rule_is_red_with_a_program_of_jax_alone(function):
    report = check_jax(lambda x: function(x), LINE, checks=["B301"])
    assert report.red_ids == ["B301"]
    script = failure(report, "B301").script
    assert "operad" not in script
    assert "jax.vjp" in script


def test_the_compiled_function_is_compared():
    def known(x):
        return x * (3 if isinstance(x, jax.core.Tracer) else 2)

    assert "L901" in check_jax(known, LINE, checks=["L901"]).red_ids


def test_bfloat16_is_compared_with_float64():
    def counts(x):
        return jnp.zeros_like(x) if x.dtype == jnp.bfloat16 else jnp.cumsum(jnp.ones_like(x), -1)

    report = check_jax(counts, "x:(N, D) -> y:(N, D)", checks=["L908"])
    assert report.red_ids == ["L908"]
