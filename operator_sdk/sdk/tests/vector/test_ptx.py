"""Kernels as PTX: their text runs on the host, and NVIDIA's assembler takes them."""

from __future__ import annotations

import re

import numpy as np
import pytest

pytest.importorskip("llvmlite")

from operad_sdk.mapper.builder import Builder
from operad_sdk.vector import CompiledForm, NoVectorCodeError
from operad_sdk.vector.ptx import ENTRY, ptx_of
from operator_sdk.sdk.tests.vector.programs import Program
from tests.devices.cuda_compilers import folder_of, to_machine_code

ARCHITECTURES = ("sm_80", "sm_90")
SINGLE = np.dtype(np.float32)


def programs(count):
    for seed in range(count):
        dtype = ("float32", "float64", "float16")[seed % 3]
        yield seed, Program(np.random.default_rng([5, seed]), dtype, seed % 4 > 0)


def of_function(name):
    builder = Builder("f", ["x"])
    return CompiledForm(builder.finish(builder.apply(name, 0)), SINGLE, lanes=1)


def test_vectors_of_one_element_compute_what_the_form_means():
    for seed, program in programs(12):
        found = program.results()
        CompiledForm(program.form, program.dtype, lanes=1)(program.inputs, found)
        for one, expected in zip(found, program.expected(), strict=True):
            np.testing.assert_array_equal(one, expected, err_msg=f"seed {seed}: {program.form.text()}")


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_text_names_the_entry_and_the_architecture(architecture):
    x = np.ones(100, SINGLE)
    text = ptx_of(of_function("tanh"), [x, x], architecture)
    assert f".entry {ENTRY}(" in text
    assert f".target {architecture}" in text
    assert re.search(r"\bld\.[buf]32\b", text)  # some releases of LLVM name the kind of the number


@pytest.mark.skipif(folder_of("cuda_nvcc") is None, reason="there is no ptxas; pip install --group cuda")
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_the_assembler_takes_what_is_written(architecture):
    for _, program in programs(12):
        compiled = CompiledForm(program.form, program.dtype, lanes=1)
        text = ptx_of(compiled, [*program.inputs, *program.results()], architecture)
        assert len(to_machine_code(text.encode(), architecture)) > 500


@pytest.mark.parametrize("name", ["sin", "tan"])
def test_what_needs_a_c_library_is_refused(name):
    x = np.ones(100, SINGLE)
    with pytest.raises(NoVectorCodeError, match=f"{name} has no code for sm_80"):
        ptx_of(of_function(name), [x, x], "sm_80")
