from __future__ import annotations

import ctypes
import math
import shutil
import subprocess

import numpy as np
import pytest

from operad_sdk.mapper import (
    Mapper,
    copysign,
    exp,
    isnan,
    log,
    mapper,
    maximum,
    minimum,
    sign,
    slope_of,
    tanh,
)
from operad_sdk.mapper.backends.with_cuda import kernel_text
from operad_sdk.mapper.builder import Builder
from operad_sdk.mapper.primitives import PRIMITIVES
from operator_sdk.sdk.tests.mappers import huber

COMPILER = shutil.which("g++") or shutil.which("c++") or shutil.which("clang++")
MACHINE = ("fma", "pow2", "scaled", "exponent", "mantissa")


@mapper
def mixture(a, b):
    if isnan(a) or (a > 2 and not b < -1):
        return maximum(a, b) + math.inf
    return minimum(tanh(a), b) * sign(b) + a % b + a // b - copysign(exp(a), -1e300) + log(b) * -0.5


def test_text_is_that_of_an_elementwise_kernel_with_typed_constants():
    text = kernel_text(huber.form, np.dtype(np.float32))
    assert (text.in_params, text.out_params) == ("float32 x0, float32 x1", "float32 out")
    assert text.name == "operad_huber_float32"
    assert text.operation.splitlines() == [
        "const float v0 = (float)x0;",
        "const float v1 = (float)x1;",
        "const float v2 = v1 * v1;",
        "const float v3 = fabsf(v0);",
        "const float v5 = 1.0f / v2;",
        "const bool v6 = v3 > v5;",
        "const float v8 = 0.5f / v2;",
        "const float v9 = v3 - v8;",
        "const float v10 = 0.5f * v2;",
        "const float v11 = v10 * v0;",
        "const float v12 = v11 * v0;",
        "const float v13 = (v6 ? v9 : v12);",
        "out = (float)v13;",
    ]


def test_float16_is_computed_in_float():
    text = kernel_text(huber.form, np.dtype(np.float16))
    assert text.in_params == "float16 x0, float16 x1"
    assert "const float v0 = (float)x0;" in text.operation


@pytest.mark.parametrize(
    ("value", "single", "double"),
    [
        (math.nan, "__int_as_float(0x7fc00000)", "__longlong_as_double(0x7ff8000000000000LL)"),
        (-math.inf, "(-__int_as_float(0x7f800000))", "(-__longlong_as_double(0x7ff0000000000000LL))"),
        (1e300, "__int_as_float(0x7f800000)", "1e+300"),
        (-1e-60, "(-0.0f)", "(-1e-60)"),
        (0.1, "0.1f", "0.1"),
    ],
)
def test_numbers_beyond_a_type_are_written_as_its_own(value, single, double):
    builder = Builder("scaled", ["a"])
    form = builder.finish(builder.apply("multiply", 0, builder.constant(value)))
    for dtype, text in ((np.float32, single), (np.float64, double)):
        assert f"v0 * {text};" in kernel_text(form, np.dtype(dtype)).operation


def test_double_has_no_float_functions_or_literals():
    operation = kernel_text(mixture.form, np.dtype(np.float64)).operation
    assert "float" not in operation
    assert "tanh(" in operation
    assert "tanhf" not in operation


def on_cpu(function, dtype, folder):
    """The kernel's text as a C++ function: it uses nothing that C++ does not have."""
    text = kernel_text(function.form, np.dtype(dtype))
    real = "float" if dtype is np.float32 else "double"
    count = len(function.form.inputs)
    parameters = ", ".join(f"const {real} *p{i}" for i in range(count))
    loads = " ".join(f"const {real} x{i} = p{i}[i];" for i in range(count))
    source = folder / f"{text.name}.cpp"
    source.write_text(
        "#include <cmath>\n#include <cstring>\nusing namespace std;\n"
        "static float __int_as_float(int i) { float x; memcpy(&x, &i, 4); return x; }\n"
        "static double __longlong_as_double(long long i) { double x; memcpy(&x, &i, 8); return x; }\n"
        f'extern "C" void run(long n, {parameters}, {real} *result) {{\n'
        f"  for (long i = 0; i < n; ++i) {{ {loads} {real} out;\n{text.operation}\nresult[i] = out; }}\n}}\n"
    )
    library = source.with_suffix(".so")
    command = [COMPILER, "-O1", "-ffp-contract=off", "-shared", "-fPIC", "-o", str(library), str(source)]
    subprocess.run(command, check=True)
    run = ctypes.CDLL(str(library)).run

    def call(*arrays):
        out = np.empty_like(arrays[0])
        run(ctypes.c_long(out.size), *(ctypes.c_void_p(array.ctypes.data) for array in (*arrays, out)))
        return out

    return call


def everything():
    """One mapper that sums every primitive, each scaled so that none hides another."""
    builder = Builder("everything", ["a", "b"])
    total = builder.constant(0)
    for weight, (name, primitive) in enumerate(PRIMITIVES.items(), start=1):
        if primitive.takes == "real" and name != "select" and name not in MACHINE:
            value = builder.apply(name, *range(primitive.arity))
            if primitive.gives == "bool":
                value = builder.select(value, builder.constant(1), builder.constant(0))
            total = builder.apply("add", total, builder.apply("multiply", builder.constant(weight), value))
    return Mapper(builder.finish(total))


@pytest.mark.skipif(COMPILER is None, reason="no C++ compiler to run the kernel text on the CPU")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "function", [huber, mixture, slope_of(mixture), everything()], ids=lambda f: f.__name__
)
def test_text_compiled_for_the_cpu_computes_what_numpy_does(function, dtype, tmp_path):
    special = [0.0, -0.0, math.inf, -math.inf, math.nan, 1.0, -1.0]
    a = np.array([*np.linspace(-4, 4, 57), *special], dtype)
    b = np.array([*np.linspace(3, -3, 57), *reversed(special)], dtype)
    found = on_cpu(function, dtype, tmp_path)(a, b)
    expected = function.backend("numpy").map(a, b)
    scale = 200 * np.finfo(dtype).eps
    np.testing.assert_allclose(found, expected, rtol=scale, atol=scale)
