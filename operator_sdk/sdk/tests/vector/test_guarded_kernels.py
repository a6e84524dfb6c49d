"""Every kind of kernel, with rows of 0 to 70 elements, beside pages that may not be touched.

Arrays end where such a page begins, or begin where one ends, at any strides; NaN, infinities and denormal
numbers are among the values. A kernel that touches more ends the process, and one whose results depend on
where its arrays lie has other bits than beside ordinary memory.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from operad.context import cpu
from operad.operator import OpContext, Result
from operad_sdk.differentiate import elements_form
from operad_sdk.mapper.builder import Builder
from operad_sdk.programs import tiles as program_tiles
from operad_sdk.programs.tiles import in_tiles
from operad_sdk.vector import (
    CompiledForm,
    PackedMatrix,
    StepArray,
    StepLoop,
    form_call,
    product_call,
    product_layout,
    run_steps,
    single_call,
    team,
    tiled_product,
)
from operad_sdk.vector import tiles as products
from operad_sdk.vector.prefixes import fill_prefixes
from operad_sdk.vector.team import has_team
from operator_sdk.sdk.tests.programs.test_programs import traced
from operator_sdk.sdk.tests.vector.guarded import guarded
from operator_sdk.sdk.tests.vector_code import require_vector_code

require_vector_code()

LENGTHS = range(71)
WAYS = ("one piece", "turned", "reversed", "every second")
TYPES = ("float32", "float64", "float16")


class Arrays:
    """Arrays of one call: the same numbers whatever memory they lie in.

    Args:
        seed: Of the numbers.
        way: How they lie.
        edge: Whether each ends beside such a page, or begins there; None: ordinary memory.
    """

    def __init__(self, seed, way, edge, threads):
        self.rng, self.way, self.edge, self.threads = np.random.default_rng(seed), way, edge, threads

    def memory(self, shape, dtype):
        return np.empty(shape, dtype) if self.edge is None else guarded(shape, dtype, at_end=self.edge)

    def of(self, data, way=None):
        """An array of these numbers."""
        way = way or self.way
        if way == "turned":
            found = self.memory(data.shape[::-1], data.dtype).T
        elif way == "every second":
            columns = max(1, data.shape[-1])
            found = self.memory((*data.shape[:-1], 2 * columns), data.dtype)[..., : 2 * data.shape[-1] : 2]
        else:
            found = self.memory(data.shape, data.dtype)
            found = found[..., ::-1] if way == "reversed" else found
        found[...] = data
        return found

    def given(self, *shape, dtype, way=None):
        """Random numbers with NaN, infinities, zeros of both signs, and denormal numbers among them."""
        found = self.rng.standard_normal(shape).astype(dtype)
        info = np.finfo(dtype)
        special = [np.nan, np.inf, -np.inf, 0.0, -0.0, info.smallest_subnormal, -info.tiny / 2, info.max]
        chosen = self.rng.choice(np.array(special, dtype), shape)
        return self.of(np.where(self.rng.integers(0, 12, shape) == 0, chosen, found).astype(dtype), way)

    def whole(self, *shape, dtype):
        """Integers."""
        return self.of(self.rng.integers(0, 2, shape).astype(dtype))

    def empty(self, *shape, dtype, way=None):
        """An array to be written."""
        return self.of(np.full(shape, 99, dtype), way)

    def run(self, form, given, results):
        """Compute a form in parts on the threads."""
        bound = form.bind(given, results)
        if self.threads > 1 and has_team():
            team.run(bound, min(max(1, bound.units), 2 * self.threads), self.threads)
        else:
            bound.run()
        return results


@cache
def form(name, dtype):
    """A compiled form."""
    kinds = ["real", "real"]
    if name == "mixed":
        kinds = ["real", "int32", "bool", "uint8"]
    builder = Builder(name, [f"x{i}" for i in range(len(kinds))], kinds)

    def over(op, value, axes=(-1,)):
        return builder.over_axes(op, value, axes)

    if name == "elements":
        made = [builder.apply("exp", builder.apply("multiply", 0, 1)), builder.apply("sqrt", 0)]
    elif name == "mixed":
        whole = builder.apply("add", builder.cast(1, "real"), builder.cast(3, "real"))
        made = [builder.select(2, builder.apply("add", 0, whole), builder.apply("tanh", 0))]
    elif name == "softmax":
        powers = builder.apply("exp", builder.apply("subtract", 0, over("max", 0)))
        made = [builder.apply("multiply", builder.apply("divide", powers, over("sum", powers)), 1)]
    elif name == "sums":
        made = [over("sum", builder.apply("multiply", 0, 1)), over("min", 0), over("max", 1)]
    else:
        made = [over("sum", builder.apply("multiply", 0, 1), (-2,))]
    results = [Result(position, f"y{i}") for i, position in enumerate(made)]
    return CompiledForm(builder.finish(*results), np.dtype(dtype))


def over_elements(arrays, length, dtype):
    given = [arrays.given(3, length, dtype=dtype), arrays.given(1, length, dtype=dtype)]
    return arrays.run(
        form("elements", dtype), given, [arrays.empty(3, length, dtype=dtype) for _ in range(2)]
    )


def of_several_types(arrays, length, dtype):
    given = [arrays.given(2, length, dtype=dtype)]
    given += [arrays.whole(2, length, dtype=kind) for kind in ("i4", "?", "u1")]
    return arrays.run(form("mixed", dtype), given, [arrays.empty(2, length, dtype=dtype)])


def of_rows(arrays, length, dtype):
    given = [arrays.given(5, length, dtype=dtype), arrays.given(5, 1, dtype=dtype)]
    return arrays.run(form("softmax", dtype), given, [arrays.empty(5, length, dtype=dtype)])


def of_rows_to_one(arrays, length, dtype):
    given = [arrays.given(7, length, dtype=dtype) for _ in range(2)]
    return arrays.run(form("sums", dtype), given, [arrays.empty(7, 1, dtype=dtype) for _ in range(3)])


def of_columns(arrays, length, dtype):
    given = [arrays.given(2, 9, length, dtype=dtype), arrays.given(1, 9, 1, dtype=dtype)]
    return arrays.run(form("columns", dtype), given, [arrays.empty(2, 1, length, dtype=dtype)])


def of_blocks_of_columns(arrays, length, dtype):
    given = [arrays.given(300, length, dtype=dtype), arrays.given(300, 1, dtype=dtype)]
    return arrays.run(form("columns", dtype), given, [arrays.empty(1, length, dtype=dtype)])


def context(arrays):
    return Threads(arrays.threads)


class Threads:
    """As much of an `OpContext` as products and steps want."""

    def __init__(self, num_threads):
        self.num_threads = num_threads

    parallel = OpContext.parallel


def a_product(arrays, length, dtype):
    rows, inner, columns = arrays.rng.permutation([length, *arrays.rng.integers(1, 40, 2)]).tolist()
    left, right = arrays.given(rows, inner, dtype=dtype), arrays.given(inner, columns, dtype=dtype)
    bias = arrays.given(columns, dtype=dtype, way="one piece")
    outs = [arrays.empty(rows, columns, dtype=dtype) for _ in range(2)]
    tiled_product(left, right, outs[0], bias, op_ctx=context(arrays))
    tiled_product(left, right, outs[1], adds=True, op_ctx=context(arrays))
    return outs


def products_of_a_stack(arrays, length, dtype):
    rows, inner, columns = arrays.rng.permutation([length, *arrays.rng.integers(1, 40, 2)]).tolist()
    stack = (2, 3) if arrays.rng.integers(2) else (5,)
    left = arrays.given(*stack, rows, inner, dtype=dtype)
    right = arrays.given(*stack, inner, columns, dtype=dtype)
    outs = [arrays.empty(*stack, rows, columns, dtype=dtype, way="one piece") for _ in range(3)]
    tiled_product(left, right, outs[0], op_ctx=context(arrays))
    tiled_product(left, right, outs[1], adds=True, op_ctx=context(arrays))
    turned = arrays.given(*stack, columns, inner, dtype=dtype).swapaxes(-1, -2)
    tiled_product(left, turned, outs[2], op_ctx=context(arrays))
    return outs


def a_product_of_a_packed_matrix(arrays, length, dtype):
    inner = int(arrays.rng.integers(1, 40))
    right = arrays.given(inner, length, dtype=dtype)
    elements = products.packed_elements(right.shape, right.dtype)
    whole = arrays.memory((elements * right.itemsize + products.ALIGNED,), np.uint8)
    begin = -whole.ctypes.data % products.ALIGNED
    packed = whole[begin : begin + elements * right.itemsize].view(dtype)
    products.pack(right, packed)
    out, left = arrays.empty(11, length, dtype=dtype, way="one piece"), arrays.given(11, inner, dtype=dtype)
    PackedMatrix(right.shape, packed).multiply(left, out, op_ctx=context(arrays))
    return [out, packed.copy()]


def prefixes(arrays, length, dtype):
    found = []
    for axis in (0, 1, 2):
        for is_backwards in (False, True):
            given = arrays.given(3, 5, length, dtype="float32", way="one piece")
            found.append(arrays.empty(3, 5, length, dtype="float32", way="one piece"))
            if length:
                fill_prefixes(given, axis, found[-1], is_backwards=is_backwards, op_ctx=context(arrays))
    return found


def add_and_curve(sums, more):
    return (np.tanh(sums) + more,)


def some_steps(arrays, length, dtype):
    order = np.arange(3)
    weight = PackedMatrix.of(arrays.given(length, length, dtype=dtype))
    out = arrays.given(3, 4, length, dtype=dtype, way="one piece")
    first, more = (arrays.given(4, length, dtype=dtype, way="one piece") for _ in range(2))
    loops = []
    for rows in (slice(0, 1), slice(1, 4)):
        into = StepArray.of(out[:, rows], order)
        calls = [
            product_call(StepArray.before(first[rows], out[:, rows], order), weight, into, adds=True),
            form_call(elements_form(add_and_curve), [into, StepArray.same(more[rows], order)], [into]),
        ]
        loops.append(StepLoop(calls))
    run_steps(loops, context(arrays))
    return [out]


def calls_of_one_step(arrays, length, dtype):
    """A matrix is packed, and multiplied as it lies, with a bias and with a product that is added."""
    inner = int(arrays.rng.integers(1, 40))
    right = arrays.given(length, inner, dtype=dtype, way="one piece").T
    more = arrays.given(inner, length, dtype=dtype, way="one piece")
    bias = arrays.given(length, dtype=dtype, way="one piece")
    left, other = (arrays.given(11, inner, dtype=dtype) for _ in range(2))
    out = arrays.empty(11, length, dtype=dtype, way="one piece")
    elements = products.packed_elements(right.shape, right.dtype)
    whole = arrays.memory((elements * right.itemsize + products.ALIGNED,), np.uint8)
    begin = -whole.ctypes.data % products.ALIGNED
    packed = PackedMatrix(right.shape, whole[begin : begin + elements * right.itemsize].view(dtype))
    packed.memory[...] = 0
    calls = [
        single_call(packed.packing(right), right, packed.memory),
        single_call(product_layout(left, right, out, bias), left, right, out, bias),
        single_call(product_layout(other, more, out, adds=True), other, more, out),
    ]
    run_steps([StepLoop(calls)])
    return [out, packed.memory.copy()]


def attention_like(query, key, limit):
    scores = np.tanh(query @ key.T) + limit
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    shares = powers / powers.sum(axis=-1, keepdims=True)
    return [shares @ key, shares.sum(axis=0), np.where(scores > limit, scores, 0)]


@cache
def program(length, dtype):
    return traced(attention_like, [(length, 5), (length, 5), (length,)], np.dtype(dtype))


def a_traced_program(arrays, length, dtype):
    return run_program(program(length, dtype), arrays, length, dtype)


def a_program_in_tiles(arrays, length, dtype):
    made = in_tiles(program(length, dtype), always=True)
    return [] if made is None else run_program(made, arrays, length, dtype)


def run_program(made, arrays, length, dtype):
    given = [arrays.given(*shape, dtype=dtype) for shape in [(length, 5), (length, 5), (length,)]]
    given = [np.where(np.isfinite(one), one, 0).astype(dtype) for one in given]
    given = [arrays.of(one) for one in given]
    targets = [arrays.empty(*shape, dtype=kind, way="one piece") for shape, kind in made.specs]
    made.run(OpContext(cpu(), is_train=True), given, tuple(range(len(targets))), targets)
    return targets


KINDS = {
    kind.__name__: kind
    for kind in (
        over_elements, of_several_types, of_rows, of_rows_to_one, of_columns, of_blocks_of_columns, a_product,
        a_product_of_a_packed_matrix, products_of_a_stack, some_steps, calls_of_one_step,
        a_traced_program, a_program_in_tiles, prefixes,
    )
}  # fmt: skip
LEAST = dict.fromkeys(list(KINDS)[6:], 1)
"""Lengths below which there is no kernel; everywhere else rows may have no elements."""
WITHOUT_HALF = {
    "a_product", "a_product_of_a_packed_matrix", "products_of_a_stack", "some_steps", "calls_of_one_step",
}  # fmt: skip


def expect_same_bits_everywhere(kind, length, dtype, way, threads, seed):
    """Run a kind in ordinary memory, and beside pages before and behind every array."""
    if length < LEAST.get(kind, 0) or (dtype == "float16" and kind in WITHOUT_HALF):
        return
    found = []
    for edge in (None, True, False):
        with np.errstate(all="ignore"):
            results = KINDS[kind](Arrays(seed, way, edge, threads), length, dtype)
        found.append([np.ascontiguousarray(one).tobytes() for one in results])
    assert found[0] == found[1] == found[2], (kind, length, dtype, way, threads, seed)


@pytest.fixture(autouse=True)
def _divides_little(monkeypatch):
    """Divide products between threads, however few they multiply, and programs into tiles."""
    monkeypatch.setattr(products, "DIVIDED_FLOPS", 0)
    for name, value in {"LEAST_BYTES": 1, "TILE_BYTES": 1, "LEAST_ROWS": 1, "LARGEST_SHARE": 1e9}.items():
        monkeypatch.setattr(program_tiles, f"_{name}", value)


def test_programs_are_in_tiles():
    """Else nothing of them was tested."""
    with np.errstate(all="ignore"):
        assert all(in_tiles(program(length, "float32"), always=True) is not None for length in (5, 33, 70))


@pytest.mark.parametrize("kind", KINDS)
def test_some_rows_beside_such_pages(kind, drawn_seed):
    rng = np.random.default_rng(drawn_seed)
    for length in (0, 17, int(rng.integers(1, 71))):
        expect_same_bits_everywhere(kind, length, "float32", str(rng.choice(WAYS)), 2, drawn_seed)


@pytest.mark.more
@pytest.mark.parametrize("kind", KINDS)
def test_random_rows_beside_such_pages(kind, drawn_seed):
    rng = np.random.default_rng(drawn_seed)
    for _ in range(20):
        length, threads = int(rng.integers(71)), int(rng.integers(1, 4))
        dtype, way = str(rng.choice(TYPES)), str(rng.choice(WAYS))
        expect_same_bits_everywhere(kind, length, dtype, way, threads, int(rng.integers(1 << 30)))


@pytest.mark.slow
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("kind", KINDS)
def test_all_rows_beside_such_pages(kind, dtype):
    for length in LENGTHS:
        for number, way in enumerate(WAYS):
            expect_same_bits_everywhere(kind, length, dtype, way, 1 + (length + number) % 3, length)
