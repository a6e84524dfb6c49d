"""Compiling for this processor and others, and what is kept on disk."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import import_module

import numpy as np
import pytest

from operad import config
from operad.errors import OperadError
from operad_sdk.mapper.builder import Builder
from operad_sdk.mapper.expansions import expanded
from operad_sdk.vector import CompiledForm, NoVectorCodeError, machine
from operad_sdk.vector.accesses import Pattern
from operad_sdk.vector.kept_processor import file_of_processor
from operad_sdk.vector.kernel_text import KernelText
from operad_sdk.vector.machine import Machine, object_code
from operator_sdk.sdk.tests.vector.processors import OTHERS, run_for
from operator_sdk.sdk.tests.vector.programs import Program
from operator_sdk.sdk.tests.vector_code import require_vector_code

require_vector_code()

compiled_module = import_module("operad_sdk.vector.compiled")
SINGLE = np.dtype(np.float32)
PROGRAM = """
import numpy as np
from operad_sdk.mapper.builder import Builder
from operad_sdk.vector import CompiledForm, machine
b = Builder("f", ["x"])
x = np.linspace(-1, 1, 100, dtype="f")
y = np.empty_like(x)
CompiledForm(b.finish(b.apply("tanh", 0)), x.dtype)([x], [y])
assert abs(y - np.tanh(x)).max() < 1e-6
print(machine.statistics.compiled, machine.statistics.loaded)
"""
ASKED = """
import sys
from operad_sdk.vector import machine
print(machine.host(), "llvmlite" in sys.modules)
"""


def run(folder, **environment):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "OPERAD_CACHE_DIR": str(folder), **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split()


def tanh_text():
    builder = Builder("tanh", ["x"])
    form = expanded(builder.finish(builder.apply("tanh", 0)), SINGLE)
    return KernelText(form, SINGLE, Pattern(0, ("next", "next"))).text


def test_the_next_process_finds_what_one_compiled(tmp_path):
    assert run(tmp_path) == ["1", "0"]
    assert run(tmp_path) == ["0", "1"]


@pytest.mark.slow
def test_processes_that_compile_the_same_at_once_agree(tmp_path):
    environment = {**os.environ, "OPERAD_CACHE_DIR": str(tmp_path)}
    running = [subprocess.Popen([sys.executable, "-c", PROGRAM], env=environment) for _ in range(3)]
    assert [process.wait() for process in running] == [0, 0, 0]
    assert len(list((tmp_path / "kernels").iterdir())) == 1


@pytest.mark.slow
def test_a_folder_that_cannot_be_written_to_is_no_obstacle(tmp_path):
    (tmp_path / "file").write_text("")
    assert run(tmp_path / "file" / "below") == ["1", "0"]


@pytest.mark.parametrize("other", OTHERS)
def test_kernels_compile_for_other_processors(other):
    for text in (tanh_text(), *map(_text_of, range(3))):
        assert len(object_code(text, OTHERS[other])) > 500


def _text_of(seed):
    program = Program(np.random.default_rng(seed), "float32", True)
    arrays = [*program.inputs, *program.results()]
    with pytest.MonkeyPatch.context() as patch:  # the text of any processor
        patch.setattr(compiled_module, "host", lambda: OTHERS["AVX2"])
        return CompiledForm(program.form, SINGLE).layout(arrays).kernel.text


def test_arm_computes_with_vectors(request):
    llvm = machine._llvm()
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    other = OTHERS["ARM"]
    module = llvm.parse_assembly(tanh_text())
    module.triple = other.triple
    target = llvm.Target.from_triple(other.triple).create_target_machine(cpu=other.cpu, opt=2)
    assembly = target.emit_assembly(module)
    assert "fmla\tv" in assembly or "fmla.4s" in assembly


@pytest.mark.skipif(machine.host().triple.split("-")[0] != "x86_64", reason="AVX2 and AVX-512 are of x86-64")
def test_bits_are_the_same_whatever_the_width_of_registers(monkeypatch):
    rng = np.random.default_rng(5)
    builder = Builder("rows", ["x"])
    powers = builder.apply("exp", builder.apply("subtract", 0, builder.over_axes("max", 0, [-1])))
    logs = builder.apply("tanh", builder.apply("log1p", powers))
    total = builder.over_axes("sum", logs, [-1])
    form = builder.finish(builder.apply("divide", builder.apply("multiply", logs, 0), total))
    for dtype in ("float32", "float64"):
        x = (rng.standard_normal((20, 1001)) * 40).astype(dtype)
        x[0] *= 20  # powers that are subnormal, or 0
        found = []
        for other in (machine.host(), OTHERS["AVX2"]):
            monkeypatch.setattr(compiled_module, "host", lambda other=other: other)
            layout = CompiledForm(form, x.dtype).layout([x, x])
            found.append(np.empty_like(x))
            run_for(other, layout, [x, found[-1]])
        np.testing.assert_array_equal(*found)


def test_a_processor_without_fused_multiply_add_has_no_vector_code(monkeypatch):
    old = Machine("x86_64-unknown-linux-gnu", "core2", "+sse3")
    assert not old.has_fma

    class Llvm:
        @staticmethod
        def get_process_triple():
            return old.triple

        @staticmethod
        def get_host_cpu_name():
            return old.cpu

        @staticmethod
        def get_host_cpu_features():
            return Llvm

        @staticmethod
        def flatten():
            return old.features

    monkeypatch.setattr(machine, "file_of_processor", lambda: None)
    monkeypatch.setattr(machine, "_llvm", lambda: Llvm)
    with pytest.raises(NoVectorCodeError, match="core2 has no fused multiply-add"):
        machine.host.__wrapped__()


def test_text_that_llvm_refuses_is_our_fault():
    with pytest.raises(OperadError, match="please report it"):
        object_code("define void @kernel() { nonsense }", machine.host())


def test_its_own_setting_leaves_vector_code_out_and_that_of_mappers_does_not(monkeypatch):
    usual = machine.reason_against()
    monkeypatch.setenv("OPERAD_VECTOR", "off")
    assert machine.reason_against() == "OPERAD_VECTOR is off"
    monkeypatch.setenv("OPERAD_VECTOR", "on")
    assert machine.reason_against() == usual
    monkeypatch.setenv("OPERAD_MAPPER", "python")
    config.reload()
    try:
        assert machine.reason_against() == usual
    finally:
        monkeypatch.undo()
        config.reload()


@pytest.mark.more
def test_a_process_knows_the_processor_that_another_one_has_asked_llvm_about(tmp_path):
    if file_of_processor() is None:
        pytest.skip("only Linux on x86 says which processor it is")

    def asked(**more):
        env = {**os.environ, "OPERAD_CACHE_DIR": str(tmp_path), **more}
        done = subprocess.run(
            [sys.executable, "-c", ASKED], env=env, capture_output=True, text=True, check=True
        )
        return done.stdout.rsplit(maxsplit=1)

    first, second, misspelt = asked(), asked(), asked(OPERAD_MISSPELT="1")
    assert first == [str(machine.host()), "True"]
    assert second == [first[0], "False"]
    assert misspelt == first
