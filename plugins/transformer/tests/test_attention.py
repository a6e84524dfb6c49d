from __future__ import annotations

import numpy as np
import pytest

import operad as od

RNG = np.random.default_rng(0)


def drawn(*shape: int) -> od.nd.NDArray:
    return od.nd.array(RNG.normal(size=shape), dtype="float64")


def of_groups() -> list[od.nd.NDArray]:
    """Queries, keys and values of six steps: four heads of queries, two of keys."""
    return [drawn(2, 4, 6, 3), drawn(2, 2, 6, 3), drawn(2, 2, 6, 5)]


@pytest.mark.parametrize("sizes", [[1] * 6, [4, 1, 1], [3, 3], [6]])
def test_decoding_in_any_parts_gives_what_attention_to_all_steps_gives(sizes: list[int]) -> None:
    arrays = of_groups()
    whole = od.nd.attention(*arrays, causal=True, group_size=2).asnumpy()
    cache = [od.nd.zeros((2, 2, 9, width), dtype="float64") for width in (3, 5)]
    found, start = [], 0
    for size in sizes:
        step = [od.nd.slice_axis(array, axis=2, begin=start, end=start + size) for array in arrays]
        place = od.nd.array([start])
        seen = od.nd.cached_attention(*step, place, *cache, max_length=9, group_size=2)
        found.append(seen.asnumpy())
        start += size
    np.testing.assert_allclose(np.concatenate(found, axis=2), whole, rtol=1e-12)
    for held, given in zip(cache, arrays[1:], strict=True):
        np.testing.assert_array_equal(held.asnumpy()[:, :, :6], given.asnumpy())


def test_the_cache_of_a_bound_symbol_is_its_state() -> None:
    steps, offset = drawn(1, 1, 3, 2), od.sym.var("offset")
    step = od.sym.var("step")
    net = od.sym.cached_attention(step, step, step, offset, max_length=3, name="layer")
    cache = {f"layer_{name}": od.nd.zeros((1, 1, 3, 2), dtype="float64") for name in ("keys", "values")}
    start = od.nd.zeros((1,))
    one = od.nd.zeros((1, 1, 1, 2), dtype="float64")
    bound = net.bind(od.cpu(), {"step": one, "offset": start}, aux_states=cache, grad_req="null")
    for place in range(3):
        given = od.nd.slice_axis(steps, axis=2, begin=place, end=place + 1)
        (seen,) = bound.forward(step=given, offset=od.nd.array([place]))
    whole = od.nd.attention(steps, steps, steps, causal=True).asnumpy()
    np.testing.assert_allclose(seen.asnumpy(), whole[:, :, 2:], rtol=1e-12)


def test_a_query_that_sees_no_key_gets_zero_and_gives_no_gradient() -> None:
    query, key, value = drawn(2, 1, 3, 2), drawn(2, 1, 2, 2), drawn(2, 1, 2, 2)
    query.attach_grad()
    with od.autograd.record():
        output = od.nd.attention(query, key, value, od.nd.array([0, 2]), use_length=True, causal=True)
    output.backward()
    assert query.grad is not None
    for array in (output.asnumpy(), query.grad.asnumpy()):
        assert (array[0] == 0).all()
        assert (array[1, :, 0] == 0).all()
    assert (output.asnumpy()[1, :, 1:] != 0).all()


@pytest.mark.parametrize(("mask_for", "shape"), [("all", (1, 1)), ("heads", (1, 4)), ("items", (2, 4))])
def test_infinity_in_a_mask_hides_what_lengths_and_positions_hide(
    mask_for: str, shape: tuple[int, int]
) -> None:
    arrays = of_groups()
    hidden = np.where(np.tri(6), 0, -np.inf) + np.where(np.arange(6) < 4, 0, -np.inf)
    mask = od.nd.array(np.broadcast_to(hidden, (*shape, 6, 6)), dtype="float64")
    found = od.nd.attention(*arrays, mask, mask_for=mask_for, group_size=2)
    lengths = od.nd.array([4, 4])
    expected = od.nd.attention(*arrays, lengths, use_length=True, causal=True, group_size=2)
    np.testing.assert_allclose(found.asnumpy(), expected.asnumpy(), rtol=1e-12)


def test_gradients_drop_the_shares_that_the_output_dropped() -> None:
    query, key, value = of_groups()
    value.attach_grad()
    head = drawn(2, 4, 6, 5)
    with od.autograd.record():
        kept = od.nd.Dropout(od.nd.ones((2, 4, 6, 6), dtype="float64"), p=0.5)
        output = od.nd.attention(query, key, value, kept, use_kept=True, group_size=2)
    output.backward(head)
    assert value.grad is not None
    # the output is linear in value
    by_output = (head.asnumpy() * output.asnumpy()).sum()
    by_gradient = (value.grad.asnumpy() * value.asnumpy()).sum()
    np.testing.assert_allclose(by_gradient, by_output, rtol=1e-12)
    plain = od.nd.attention(query, key, value, group_size=2).asnumpy()
    assert not np.allclose(output.asnumpy(), plain)


@pytest.mark.parametrize("name", ["attention", "cached_attention"])
def test_its_cost_has_its_products_so_that_recompute_leaves_it_alone(name: str) -> None:
    heads, steps, width = 4, 256, 64
    variables = [od.sym.var(each) for each in ("query", "key", "value", "offset")]
    params = {"max_length": 2 * steps} if name == "cached_attention" else {}
    net = getattr(od.sym, name)(*variables[: 3 + len(params)], **params)
    prop, shape = net.graph.op_nodes[0].op, (8, heads, steps, width)

    cost = prop.cost([shape, shape, shape, (1,)][: 3 + len(params)], [shape])

    assert cost.product_flops == 8 * heads * steps * steps * 4 * width
