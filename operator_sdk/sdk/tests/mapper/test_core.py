from __future__ import annotations

import doctest
import math
import subprocess
import sys

import numpy as np
import pytest

from operad import config
from operad.errors import DTypeError, ShapeError
from operad_sdk.mapper import Mapper, MapperError, apply, core, exp, log, mapper, slope_of, sqrt, words
from operad_sdk.mapper.backends import with_numpy, with_vectors
from operad_sdk.mapper.builder import Builder
from operad_sdk.mapper.primitives import PRIMITIVES
from operad_sdk.vector import array_calls, machine
from operator_sdk.sdk.tests.vector_code import VECTOR, require_vector_code

FLOATS = (np.float16, np.float32, np.float64)
BACKENDS = ("python", "numpy", VECTOR)


@mapper
def huber(a, sigma=1.0):
    """Smooth absolute value."""
    s2 = sigma * sigma
    if abs(a) > 1 / s2:
        return abs(a) - 0.5 / s2
    return 0.5 * s2 * a * a


@mapper
def above(a, b):
    return a > b


@pytest.fixture(params=BACKENDS)
def backend(request):
    return request.param


def test_call_is_plain_python():
    assert huber(0.5, 2.0) == 0.375
    assert huber(a=3, sigma=1) == 2.5
    assert type(huber(3)) is float
    assert above(2, 1) is True


def test_call_keeps_the_type_of_a_numpy_scalar():
    assert huber(np.float32(0.1)) == np.float32(0.5) * np.float32(0.1) * np.float32(0.1)
    assert [type(huber(kind(2))) for kind in FLOATS] == list(FLOATS)


def test_call_follows_ieee_rules_instead_of_raising():
    @mapper
    def risky(x):
        return log(x) / x

    assert risky(0.0) == -math.inf
    assert math.isnan(risky(-1.0))


def test_call_with_wrong_arguments_is_a_type_error():
    with pytest.raises(TypeError, match="huber takes 2 arguments"):
        huber(1, 2, 3)
    with pytest.raises(TypeError, match="above misses argument 'b'"):
        above(1)


def test_name_and_documentation_are_the_functions():
    assert (huber.__name__, huber.__doc__, repr(huber)) == (
        "huber",
        "Smooth absolute value.",
        "<mapper huber(a, sigma)>",
    )
    assert huber.__module__ == __name__


@pytest.mark.parametrize("dtype", FLOATS)
def test_map_keeps_the_element_type(dtype, backend):
    x = np.linspace(-2, 2, 9).astype(dtype)
    y = huber.backend(backend).map(x, 1.3)
    assert y.dtype == dtype
    expected = [huber(value, 1.3) for value in x.astype(np.float32 if dtype is np.float16 else dtype)]
    np.testing.assert_allclose(y, np.array(expected).astype(dtype), rtol=4 * np.finfo(dtype).eps)


def test_map_rounds_parameters_and_constants_to_the_element_type(backend):
    @mapper
    def compared(x, p):
        return 1 if x == p and x == 0.1 else 0

    x = np.full(3, 0.1, np.float32)
    np.testing.assert_array_equal(compared.backend(backend).map(x, 0.1), np.ones(3, np.float32))
    np.testing.assert_array_equal(compared.backend(backend).map(x, np.float64(0.1)), np.ones(3, np.float32))


@pytest.mark.parametrize("shape", [(), (0,), (1,), (3, 0, 2), (2, 3, 4)])
def test_map_takes_any_shape(shape, backend):
    x = np.arange(math.prod(shape), dtype=np.float32).reshape(shape) - 3
    y = huber.backend(backend).map(x)
    assert y.shape == shape
    np.testing.assert_array_equal(y.ravel(), [huber(value) for value in x.ravel()])


def test_map_of_views_equals_map_of_copies(backend):
    base = np.linspace(-3, 3, 240).astype(np.float32).reshape(6, 8, 5)
    for view in (
        base[::2, ::-1],
        base.T,
        base[:, 1:7:3, 4],
        np.broadcast_to(base[0, 0], (7, 5)),
        np.asfortranarray(base),
    ):
        found = huber.backend(backend).map(view, 0.7)
        np.testing.assert_array_equal(found, huber.backend("numpy").map(view.copy(), 0.7))


def test_map_writes_into_strided_out_and_nothing_beside_it(backend):
    x = np.linspace(-2, 2, 12, dtype=np.float32)
    canvas = np.full(24, 9.0, np.float32)
    assert huber.backend(backend).map(x, out=canvas[::2]).base is canvas
    np.testing.assert_array_equal(canvas[1::2], 9.0)
    np.testing.assert_array_equal(canvas[::2], [huber(value) for value in x])


def test_map_takes_unaligned_and_read_only_arrays(backend):
    raw = np.zeros(4 * 10 + 1, np.uint8)
    unaligned = raw[1:].view(np.float32)
    unaligned[:] = np.arange(10)
    fixed = np.arange(10, dtype=np.float32)
    fixed.flags.writeable = False
    expected = [huber(np.float32(value)) for value in range(10)]
    np.testing.assert_array_equal(huber.backend(backend).map(unaligned), expected)
    np.testing.assert_array_equal(huber.backend(backend).map(fixed), expected)


def test_map_broadcasts_arrays(backend):
    a, b = np.array([[1.0], [3.0]], np.float32), np.array([0, 2, 4], np.float32)
    np.testing.assert_array_equal(above.backend(backend).map(a, b), [[1, 0, 0], [1, 1, 0]])
    np.testing.assert_array_equal(above.backend(backend).map(2, b), [1, 0, 0])


def test_truth_values_are_written_as_one_and_zero_of_the_element_type(backend):
    y = above.backend(backend).map(np.array([1, 2, np.nan], np.float32), 1.5)
    assert y.dtype == np.float32
    np.testing.assert_array_equal(y, [0, 1, 0])


def test_out_may_be_an_argument(backend):
    x = np.linspace(-2, 2, 33)
    expected = huber.backend("numpy").map(x.copy(), 0.5)
    assert huber.backend(backend).map(x, 0.5, out=x) is x
    np.testing.assert_array_equal(x, expected)


@pytest.mark.parametrize("shift", [1, -1])
def test_out_that_partly_overlaps_an_argument_gets_the_right_values(shift, backend):
    base = np.linspace(-2, 2, 3000)
    x, out = (base[1:], base[:-1]) if shift == 1 else (base[:-1], base[1:])
    expected = huber.backend("numpy").map(x.copy(), 0.5)
    huber.backend(backend).map(x, 0.5, out=out)
    np.testing.assert_array_equal(out, expected)


def test_identity_and_constant_mappers_fill_the_output(backend):
    @mapper
    def same(x):
        return x

    @mapper
    def constant(x, y):
        return 0.1

    x = np.array([1.0, np.nan, -0.0])
    found = same.backend(backend).map(x)
    assert found is not x
    np.testing.assert_array_equal(found, x)
    np.testing.assert_array_equal(
        constant.backend(backend).map(x.astype(np.float32), 2.0), np.full(3, 0.1, np.float32)
    )


def test_branch_not_taken_neither_warns_nor_leaks(backend):
    @mapper
    def safe(x):
        return sqrt(x) if x >= 0 else exp(1000 * x) / x

    np.testing.assert_array_equal(safe.backend(backend).map(np.array([4.0, -4.0, 0.0])), [2.0, -0.0, 0.0])


def test_numbers_alone_give_a_zero_dimensional_array(backend):
    y = huber.backend(backend).map(3.0)
    assert (y.shape, y.dtype, y[()]) == ((), np.float64, 2.5)


def test_arrays_that_do_not_fit_are_refused_by_name():
    x = np.zeros(3, np.float32)
    with pytest.raises(DTypeError, match="mapper 'above': got an array of int64, expected float16"):
        above.map(np.arange(3), x)
    with pytest.raises(DTypeError, match="argument 'b' is float64, expected float32 as the first array"):
        above.map(x, np.zeros(3))
    with pytest.raises(DTypeError, match="argument 'b' is 'text', expected an array or a number"):
        above.map(x, "text")
    with pytest.raises(ShapeError, match=r"shapes \(3,\), \(2,\) do not broadcast"):
        above.map(x, np.zeros(2, np.float32))
    with pytest.raises(ShapeError, match=r"out has shape \(2,\), expected \(3,\)"):
        above.map(x, x, out=np.zeros(2, np.float32))
    with pytest.raises(DTypeError, match="out is float64, expected float32"):
        above.map(x, x, out=np.zeros(3))


def test_unknown_back_end_is_refused():
    with pytest.raises(MapperError, match="no back end 'fortran'; there are auto, python, numpy, vector"):
        huber.backend("fortran")


def test_setting_chooses_the_back_end(monkeypatch):
    calls = []

    def spy(x):
        calls.append(x)
        return x

    same = Mapper(slope_of(huber).form, lambda a, sigma: spy(a), defaults={"sigma": 1})
    monkeypatch.setenv("OPERAD_MAPPER", "python")
    config.reload()
    try:
        same.map(np.zeros(2))
    finally:
        monkeypatch.undo()
        config.reload()
    assert len(calls) == 2
    same.map(np.zeros(2))
    assert len(calls) == 2


def test_bound_call_follows_the_arrays_and_keeps_the_numbers(backend):
    x, out = np.array([1.0, 3.0]), np.zeros(2)
    call = huber.backend(backend).bind(x, 1.0, out=out)
    call()
    np.testing.assert_array_equal(out, [0.5, 2.5])
    x[:] = 2.0
    call()
    np.testing.assert_array_equal(out, [1.5, 1.5])


def test_source_is_python_that_computes_the_same():
    namespace = {}
    exec(huber.source, namespace)  # noqa: S102 -- runs what the mapper printed
    assert [namespace["huber"](value, 1.0) for value in (-3.0, 0.5)] == [2.5, 0.125]


def test_importing_the_sdk_and_small_arrays_do_not_import_llvmlite_and_nothing_numba(tmp_path):
    require_vector_code()
    author = tmp_path / "author.py"
    author.write_text(
        "import sys\n"
        "import numpy as np\n"
        "from operad_sdk import mapper\n"
        "@mapper\n"
        "def f(x):\n"
        "    return x + 1\n"
        "f.map(np.zeros(16))\n"
        "assert 'llvmlite' not in sys.modules\n"
        "assert 'operad_sdk.vector' not in sys.modules\n"
        "f.map(np.zeros(100_000))\n"
        "assert 'llvmlite' in sys.modules\n"
        "assert 'numba' not in sys.modules\n"
    )
    subprocess.run([sys.executable, str(author)], check=True)


def test_examples_in_the_documentation_run():
    for module in (core, words):
        assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize("size", [with_numpy.BLOCK, with_numpy.BLOCK + 1, 3 * with_numpy.BLOCK - 1])
def test_numpy_computes_large_arrays_in_blocks_of_the_same_values(size):
    on_numpy, x = huber.backend("numpy"), np.linspace(-3, 3, size)
    expected = np.concatenate([on_numpy.map(part, 1.0) for part in np.array_split(x, 7)])
    np.testing.assert_array_equal(on_numpy.map(x, 1.0), expected)
    np.testing.assert_array_equal(on_numpy.map(np.repeat(x, 2)[::2], 1.0), expected)


def test_blocks_on_numpy_may_overwrite_an_operand_and_respect_overlap():
    on_numpy, x = huber.backend("numpy"), np.linspace(-3, 3, 2 * with_numpy.BLOCK + 1)
    expected = on_numpy.map(x, 1.0)
    shifted, whole = np.append(x, 0.0), x.copy()
    on_numpy.map(shifted[:-1], 1.0, out=shifted[1:])
    on_numpy.map(whole, 1.0, out=whole)
    np.testing.assert_array_equal(shifted[1:], expected)
    np.testing.assert_array_equal(whole, expected)


@pytest.fixture
def without_llvm(monkeypatch):
    """As where `operad-sdk[vector]` is not installed."""
    caches = (machine.has_llvm, machine._llvm, machine.host, machine._reason_of_host, apply._with_vectors)
    monkeypatch.setattr(machine, "find_spec", lambda name: None)
    for function in caches:
        function.cache_clear()
    yield
    monkeypatch.undo()
    for function in caches:
        function.cache_clear()


@pytest.mark.usefixtures("without_llvm")
def test_without_llvm_large_arrays_are_mapped_by_numpy():
    x = np.linspace(-3, 3, 2 * apply.VECTOR_FROM_SIZE)
    for function in (huber, slope_of(huber)):
        np.testing.assert_array_equal(function.map(x, 1.0), function.backend("numpy").map(x, 1.0))


@pytest.mark.usefixtures("without_llvm")
def test_vector_code_by_name_says_what_to_install_where_it_is_missing():
    with pytest.raises(MapperError, match=r'pip install "operad-sdk\[vector\]"'):
        huber.backend("vector").map(np.zeros(3), 1.0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_primitive_has_vector_code(dtype):
    require_vector_code()
    for primitive in PRIMITIVES.values():
        builder = Builder(f"only_{primitive.name}", ["x", "y", "z"][: primitive.arity])
        args = list(range(primitive.arity))
        if primitive.takes == "bool":
            args = [builder.apply("greater", i, builder.constant(1)) for i in args]
        elif primitive.name == "select":
            args[0] = builder.apply("greater", 0, builder.constant(1))
        arrays = [np.full(3, 2.0, dtype)] * primitive.arity
        one = Mapper(builder.finish(builder.apply(primitive.name, *args)))
        found, expected = one.backend("vector").map(*arrays), one.backend("numpy").map(*arrays)
        np.testing.assert_allclose(found, expected, rtol=8 * np.finfo(dtype).eps, err_msg=primitive.name)


@pytest.mark.parametrize("function", ["huber", "above"])
def test_where_addresses_cannot_be_read_out_of_arrays_the_values_are_the_same(function, monkeypatch):
    require_vector_code()
    x, one = np.linspace(-2, 2, 100), {"huber": huber, "above": above}[function].backend("vector")
    expected = one.map(x, 0.7), one.map(x, x[::-1]), one.map(0.5, x)
    monkeypatch.setattr(array_calls, "is_possible", lambda: False)
    with_vectors.kernel.cache_clear()
    found = one.map(x, 0.7), one.map(x, x[::-1]), one.map(0.5, x)
    with_vectors.kernel.cache_clear()
    np.testing.assert_array_equal(found, expected)


def test_a_bound_call_keeps_its_arrays_and_numbers():
    require_vector_code()
    out = np.zeros(5000)
    call = huber.backend("vector").bind(np.full(5000, 3.0), np.float64(1.0), out=out)
    [np.full(5000, 7.0) for _ in range(20)]  # in memory that was free
    with_vectors.kernel.cache_clear()
    call()
    np.testing.assert_array_equal(out, 2.5)


def test_where_llvmlite_is_missing_nothing_imports_it(tmp_path):
    author = tmp_path / "author.py"
    author.write_text(
        "import sys\n"
        "sys.modules['numba'] = sys.modules['llvmlite'] = None  # importing either raises\n"
        "import importlib.util\n"
        "importlib.util.find_spec = lambda name: None\n"
        "import numpy as np\n"
        "from operad_sdk.mapper import digamma, erf, gamma, lgamma, mapper, slope_of\n"
        "@mapper\n"
        "def f(x):\n"
        "    return gamma(x) + lgamma(x) + erf(x) + digamma(x)\n"
        "x = np.full(100_000, 1.5)\n"
        "assert np.isfinite(f.map(x)).all() and np.isfinite(slope_of(f).map(x)).all()\n"
    )
    subprocess.run([sys.executable, str(author)], check=True)
