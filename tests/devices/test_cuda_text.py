"""Every text that mappers emit for CUDA is compiled, and assembled for two architectures; nothing runs.

What surrounds the text stands for CuPy's: its names of types, and a loop over the elements.
"""

from __future__ import annotations

import sys

import numpy as np
import pytest

from operad import registry
from operad_sdk.mapper import Mapper, slope_of
from operad_sdk.mapper.backends.with_cuda import kernel_text
from operad_sdk.mapper.builder import Builder
from operad_sdk.mapper.primitives import PRIMITIVES
from tests.devices.cuda_compilers import CudaError, missing, to_machine_code, to_ptx
from tests.devices.day.streams import SPIN

pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(missing()), reason=missing())]

ARCHITECTURES = ("75", "90")
TYPES = ("float16", "float32", "float64")
MACHINE = ("fma", "pow2", "scaled", "exponent", "mantissa")
"""Primitives of expansions, which are made for processors alone."""
PRELUDE = """
typedef float float32;
typedef double float64;
struct float16 {
    unsigned short bits;
    __device__ float16() {}
    __device__ float16(float v) { asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(v)); }
    __device__ operator float() const { float v; asm("cvt.f32.f16 %0, %1;" : "=f"(v) : "h"(bits)); return v; }
};
"""


def in_kernel(text, number):
    """The text as an elementwise kernel, under a name of its own."""
    ins = [item.split() for item in text.in_params.split(", ")]
    (kind, _), *_ = ins
    pointers = ", ".join(f"const {kind}* {name}_p" for kind, name in ins)
    loads = " ".join(f"const {kind} {name} = {name}_p[i];" for kind, name in ins)
    return (
        f'extern "C" __global__ void kernel_{number}({pointers}, {kind}* out_p, size_t n) {{\n'
        "for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {\n"
        f"{loads} {kind} out;\n{text.operation}\nout_p[i] = out;\n}}\n}}\n"
    )


def primitives():
    """A form for each primitive, and for each kind of constant."""
    for name, primitive in PRIMITIVES.items():
        if name in MACHINE:
            continue
        builder = Builder(f"only_{name}", ["a", "b", "c"])
        conditions = [builder.apply("less", 0, 1), builder.apply("greater", 1, 2)]
        if name == "select":
            yield builder.finish(builder.apply("select", conditions[0], 1, 2))
            continue
        args = (conditions if primitive.takes == "bool" else [0, 1, 2])[: primitive.arity]
        result = builder.apply(name, *args)
        if primitive.gives == "bool":
            result = builder.apply("select", result, 0, 1)
        yield builder.finish(result)
    for value in (np.inf, -np.inf, np.nan, 1e300, -1e300, 1e-320, -1e-60, 1e-40, 0.1, -0.0, 3.0):
        builder = Builder("constant", ["a"])
        yield builder.finish(builder.apply("multiply", 0, builder.constant(value)))


def mappers():
    """Mappers of all installed operators' packages, and their slopes."""
    for name in registry.list_operators():
        registry.get(name)
    for module in [
        m for name, m in list(sys.modules.items()) if name.startswith("operad_") and m is not None
    ]:
        for one in [value for value in vars(module).values() if isinstance(value, Mapper)]:
            yield one.form
            if one.form.kind == "real":
                yield from (slope_of(one, wrt).form for wrt in one.form.inputs)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("forms", [primitives, mappers])
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_all_that_is_emitted_is_machine_code(forms, dtype, architecture):
    texts = dict.fromkeys(in_kernel(kernel_text(form, np.dtype(dtype)), "N") for form in forms())  # each once
    assert len(texts) >= 20
    program = PRELUDE + "".join(text.replace("kernel_N", f"kernel_{i}") for i, text in enumerate(texts))
    ptx = to_ptx(program, f"compute_{architecture}")
    assert ptx.count(b".entry kernel_") == len(texts)
    code = to_machine_code(ptx, f"sm_{architecture}")
    assert code[:4] == b"\x7fELF"


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_the_kernel_that_delays_others_is_machine_code(architecture):
    assert to_machine_code(to_ptx(SPIN, f"compute_{architecture}"), f"sm_{architecture}")[:4] == b"\x7fELF"


def test_a_text_that_is_none_is_refused():
    with pytest.raises(CudaError, match="no_such_function"):
        to_ptx('extern "C" __global__ void f(float* x) { *x = no_such_function(*x); }', "compute_75")
