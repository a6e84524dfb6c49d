from __future__ import annotations

import sys

import numpy as np
import pytest

from operad import registry
from operad.resource import ResourceRequest
from operad_check.commands.bench.counterparts import counterpart
from operad_check.commands.bench.measure import interleaved
from operad_sdk import OperatorProperty, Scalar, binary, operator, param, unary
from operad_sdk.contract import Contract
from operad_sdk.domains import Integers
from operad_sdk.vector.machine import has_llvm
from operator_sdk.sdk.tests.vector_code import require_vector_code

pytestmark = pytest.mark.serial


@pytest.fixture
def register():
    """Adds operators to this process while a test runs."""
    names = []

    def add(operator):
        registry.register(operator)
        names.append(operator.name)
        return operator

    yield add
    for name in names:
        registry.unregister(name)


OF_FILE = '''
from operad_sdk import unary


@unary("acme_of_file")
def of_file(x):
    """Twice."""
    return 2 * x
'''


def test_an_operator_of_a_file_is_timed(tmp_path, monkeypatch, run_json):
    (tmp_path / "acme_benched.py").write_text(OF_FILE)
    monkeypatch.setattr(sys, "path", list(sys.path))
    words = ["--module", str(tmp_path / "acme_benched.py"), "--shape", "2x3", "--rounds", "1"]
    try:
        found = run_json("bench", "acme_of_file", *words)
    finally:
        registry.unregister("acme_of_file")
        del sys.modules["acme_benched"]

    assert found["timings"][0]["name"] == "acme_of_file.forward"


@pytest.fixture
def doubled(register):
    """An operator with a gradient and two kernels, of which one is preferred."""

    @unary("acme_doubled")
    def doubled(x):
        return 2 * x

    @doubled.gradient
    def _(output_grad):
        return 2 * output_grad

    @doubled.kernel("cpu", priority=1, name="quick")
    def quick(x):
        return x + x

    return register(doubled)


def names_of(found):
    return [timing["name"] for timing in found["timings"]]


def test_all_kernels_the_call_and_backward_are_timed(doubled, run_json):
    found = run_json("bench", "acme_doubled", "--shape", "3x4", "--rounds", "1")
    by_form = ["acme_doubled.vector_forward (rejected)"] if has_llvm() else []
    assert names_of(found) == [
        "acme_doubled.quick", "acme_doubled.forward", "nd.acme_doubled", *by_form, "backward"
    ]  # fmt: skip
    assert found["verified"] == ["acme_doubled.forward", "nd.acme_doubled"]
    assert (found["shapes"], found["dtypes"]) == ([[3, 4]], ["float32"])


def test_shapes_that_no_memory_holds_are_refused(doubled, run):
    done = run("bench", "acme_doubled", "--shape", "99999999999,99999999999")
    assert done.exit_code == 1
    assert "bench: arrays of shapes [(99999999999, 99999999999)] cannot be made" in done.output


def test_ratios_are_to_the_chosen_kernel_and_backward_has_none(doubled, run_json):
    timings = run_json("bench", "acme_doubled", "--shape", "3", "--rounds", "1")["timings"]
    assert timings[0]["ratio"] == 1.0
    assert timings[1]["ratio"] == timings[1]["median_s"] / timings[0]["median_s"]
    assert timings[-1]["ratio"] is None
    for timing in timings:
        assert 0 < timing["smallest_s"] <= timing["median_s"] <= timing["largest_s"]


def test_numpy_takes_part_and_is_the_measure(register, run_json):
    register(unary("spacing")(np.spacing))
    found = run_json("bench", "spacing", "--against", "numpy", "--shape", "2x2", "--rounds", "1")
    assert "numpy" in found["verified"]
    (ratio,) = [t["ratio"] for t in found["timings"] if t["name"] == "numpy"]
    assert ratio == 1.0


def test_a_wrong_kernel_is_found_and_nothing_is_timed(doubled, run, run_json):
    @doubled.kernel("cpu", name="wrong")
    def wrong(x):
        return x * x

    found = run_json("bench", "acme_doubled", "--shape", "5")
    (problem,) = found["problems"]
    assert problem.startswith("acme_doubled.wrong and acme_doubled.quick disagree: output 0 differs by up to")
    assert found["timings"] == []
    done = run("bench", "acme_doubled", "--shape", "5")
    assert done.exit_code == 1
    assert "disagree" in done.stdout


def test_a_result_of_another_shape_than_numpys_is_found(register, run_json):
    @unary("acme_total")
    def total(x):
        return x

    total.contract = Contract(reference=lambda data: data.sum())
    register(total)
    (problem,) = run_json("bench", "acme_total", "--shape", "5", "--against", "numpy")["problems"]
    assert "output 0 has shape (), expected (5,)" in problem


def test_without_a_counterpart_it_says_what_to_declare(doubled, run):
    done = run("bench", "acme_doubled", "--against", "numpy")
    assert done.exit_code == 1
    assert "declare Contract(reference=...)" in done.stderr


def test_a_random_operator_is_timed_and_not_compared(register, run, run_json):
    @unary("acme_noise", resource=ResourceRequest.RANDOM)
    def noise(op_ctx, x):
        return x + op_ctx.requested[0].generator.random(x.shape, x.dtype)

    register(noise)
    found = run_json("bench", "acme_noise", "--shape", "4", "--rounds", "1")
    assert (found["verified"], found["problems"]) == ([], [])
    assert len(found["timings"]) == 2
    assert "nothing was compared" in run("bench", "acme_noise", "--shape", "4", "--rounds", "1").stdout


def test_arguments_come_from_the_domains_declared(register, run_json):
    seen = []

    @operator("acme_pick")
    class Pick(OperatorProperty):
        spec = "data:(N), place:any(M) -> output:(M)"
        contract = Contract(inputs={"place": Integers(0, 2)})

        def forward(data, place):
            seen.append(place.copy())
            return data[place.astype(int)]

    register(Pick)
    found = run_json("bench", "acme_pick", "--shape", "3", "--shape", "50", "--rounds", "1")
    assert found["problems"] == []
    assert {value for array in seen for value in array.tolist()} == {0.0, 1.0, 2.0}


def test_states_and_several_outputs_are_handled(register, run_json):
    @operator("acme_moments")
    class Moments(OperatorProperty):
        momentum = param(float, 0.5)
        spec = "data:(N, C); aux mean:(C) -> output:(N, C), spread:(C)"

        def forward(data, mean):
            return data - mean, data.max(0) - data.min(0)

        def data_grad(output_grad):
            return output_grad

    register(Moments)
    found = run_json("bench", "acme_moments", "--shape", "6x2", "--rounds", "1")
    assert found["verified"] == ["nd.acme_moments"]
    by_form = ["acme_moments.vector_forward (rejected)"] if has_llvm() else []
    assert names_of(found) == ["acme_moments.forward", "nd.acme_moments", *by_form, "backward"]


@pytest.fixture
def running(register):
    @unary("acme_running")
    def running(x):
        return np.cumprod(np.exp(x))

    register(running)


def test_parts_that_run_as_they_are_written_are_said_with_the_line_and_the_cure(running, run, run_json):
    require_vector_code()  # else want of it is the reason
    why = run_json("bench", "acme_running", "--shape", "20000", "--rounds", "1")["by_numpy"]["forward"]
    assert why.startswith("there is no rule for numpy.cumprod, at test_bench.py:")
    assert "return np.cumprod(np.exp(x))" in why
    assert "CompiledLoops" in why
    shown = run("bench", "acme_running", "--shape", "20000", "--rounds", "1").stdout
    assert "forward runs as it is written: there is no rule for numpy.cumprod" in shown


def test_want_of_vector_code_is_the_reason_where_there_is_none(running, run_json, monkeypatch):
    monkeypatch.setenv("OPERAD_VECTOR", "off")
    why = run_json("bench", "acme_running", "--shape", "20000", "--rounds", "1")["by_numpy"]
    assert why == {"forward": "OPERAD_VECTOR is off"}


def test_shapes_that_are_not_given_are_large_and_shown(doubled, run_json):
    (shape,) = run_json("bench", "acme_doubled", "--rounds", "1")["shapes"]
    assert np.prod(shape) >= 10_000


def test_what_the_operator_raises_is_its_own_error(register, run):
    @unary("acme_picky")
    def picky(x):
        raise FloatingPointError("not these")

    register(picky)
    done = run("bench", "acme_picky", "--shape", "2")
    assert done.exit_code == 1
    assert done.stderr.startswith(
        "Error: acme_picky raised FloatingPointError on made-up inputs: not these; "
    )


def test_too_many_shapes_are_a_usage_error(doubled, run):
    done = run("bench", "acme_doubled", "--shape", "2", "--shape", "2")
    assert done.exit_code == 2
    assert "acme_doubled takes 1 arguments (data), got 2 shapes" in done.stderr


@pytest.mark.parametrize(
    ("declared", "params", "arrays", "value"),
    [
        (binary("elemwise_sub")(lambda a, b: 0), {}, [5.0, 2.0], 3.0),
        (binary("broadcast_lesser")(lambda a, b: 0), {}, [5.0, 2.0], False),
        (binary("_power")(lambda a, b: 0), {}, [5.0, 2.0], 25.0),
        (unary("_minus_scalar", scalar=Scalar("s"))(lambda a, s: 0), {"scalar": 2.0}, [5.0], 3.0),
        (unary("_rminus_scalar", scalar=Scalar("s"))(lambda a, s: 0), {"scalar": 2.0}, [5.0], -3.0),
        (unary("arctan")(lambda a: 0), {}, [1.0], np.pi / 4),
    ],
)
def test_numpys_counterpart_follows_mxnets_names(declared, params, arrays, value):
    name, compute = counterpart(declared(**params))
    assert name == "numpy"
    np.testing.assert_allclose(compute([np.array([x]) for x in arrays], {}), [value])


@pytest.mark.parametrize(
    "declared",
    [
        unary("acme_tanh")(lambda a: 0),
        unary("array")(lambda a: 0),  # NumPy's, and no function of one array
        unary("add")(lambda a: 0),  # NumPy's takes two
        unary("modf")(lambda a: 0),  # NumPy's gives two
        binary("_acme")(lambda a, b: 0),
        unary("_acme_scalar", scalar=Scalar("s", default=1.0))(lambda a, s: 0),
    ],
)
def test_an_accidental_name_is_no_counterpart(declared):
    assert counterpart(declared()) is None


def test_the_function_of_that_name_is_preferred_to_a_reference():
    declared = unary("negative")(lambda a: -a)
    declared.contract = Contract(reference=lambda data: 0 * data)
    name, compute = counterpart(declared())
    assert (name, compute([2.0], {})) == ("numpy", -2.0)


def test_a_declared_reference_gets_the_parameters_it_names():
    @unary("exp")
    def shifted(x, by=1.0, unused=2.0):
        return x + by

    prop = shifted(by=3.0)
    type(prop).contract = Contract(reference=lambda data, by, is_train: (data + by, is_train))
    name, compute = counterpart(prop)
    assert (name, compute([1.0], {})) == ("reference", (4.0, False))


def test_a_declared_reference_gets_the_states_it_names():
    @operator("acme_centred")
    class Centred(OperatorProperty):
        spec = "data:(N); aux mean:(N) -> output:(N)"
        contract = Contract(reference=lambda data, mean: data - mean)

        def forward(data, mean):
            return data - mean

    assert counterpart(Centred())[1]([3.0], {"mean": 1.0}) == 2.0


def test_a_reference_is_not_called_numpy(run):
    found = run("bench", "softmax", "--against", "numpy", "--shape", "4x4", "--rounds", "1")
    rows = [line.split()[0] for line in found.output.splitlines() if line]
    assert "reference" in rows
    assert "numpy" not in rows
    assert "written to be right, not fast" in found.output


def test_a_declared_reference_may_be_a_ufunc():
    declared = unary("acme_root")(lambda a: 0)
    declared.contract = Contract(reference=np.sqrt)
    assert counterpart(declared())[1]([9.0], {}) == 3.0


class Clock:
    """Time that passes only where a test lets it."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now

    def takes(self, seconds, calls, name):
        def run():
            self.now += seconds
            calls.append(name)

        return run


def test_contestants_take_turns_and_are_measured_alone():
    clock, calls, rounds = Clock(), [], []
    runs = {"fast": clock.takes(0.25, calls, "fast"), "slow": clock.takes(2.0, calls, "slow")}
    found = interleaved(runs, rounds.append, rounds=3, turn_s=1.0, clock=clock)
    assert found == {"fast": [0.25] * 3, "slow": [2.0] * 3}
    assert rounds == ["round 1", "round 2", "round 3"]
    assert calls[-15:] == (["fast"] * 4 + ["slow"]) * 3
