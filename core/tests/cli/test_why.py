from __future__ import annotations

import pytest

from operad import registry


def verdicts(found):
    return {c["kernel"]: (c["accepted"], c["chosen"], c["reason"]) for c in found["candidates"]}


def test_every_kernel_is_accepted_or_rejected_with_the_reason(acme, run_json):
    assert verdicts(run_json("why", "Dense", "--shape", "4x5")) == {
        "Dense.device": (False, False, "runs on gpu, not on cpu"),
        "Dense.matrix": (True, True, None),
        "Dense.plain": (True, False, None),
    }


def test_shapes_decide(acme, run_json):
    found = verdicts(run_json("why", "Dense", "--shape", "2x3x8x8"))
    assert found["Dense.matrix"] == (False, False, "wants two axes, got 4")
    assert found["Dense.plain"] == (True, True, None)


def test_the_context_decides_without_the_device(acme, run_json):
    found = run_json("why", "Dense", "--ctx", "gpu(1)")
    assert found["context"] == "gpu(1)"
    assert verdicts(found)["Dense.device"] == (True, True, None)


def test_what_is_not_given_is_inferred_and_shown(acme, run_json):
    found = run_json("why", "Dense", "--shape", "4x5", "--param", "units=3", "--dtype", "float64")
    assert found["shapes"] == [[4, 5], [3, 5], [3]]
    assert found["dtypes"] == ["float64"] * 3
    assert found["params"]["units"] == "3"


def test_a_kernel_of_another_distribution_names_it(acme, run_json):
    kernel = "from operad.operator import Kernel\nfast = Kernel('Dense.acme', object, priority=99)"
    acme.install("acme-fast", kernels={"Dense.acme": "acme_fast:fast"}, modules={"acme_fast": kernel})
    registry.refresh()
    first = run_json("why", "Dense")["candidates"][0]
    assert (first["kernel"], first["distribution"], first["chosen"]) == ("Dense.acme", "acme-fast", True)


def test_a_kernel_whose_condition_breaks_is_named_with_its_distribution(acme, run):
    kernel = (
        "from operad.operator import Kernel\nbad = Kernel('Dense.bad', object, when=lambda call: call.params)"
    )
    acme.install("acme-fast", kernels={"Dense.bad": "acme_fast:bad"}, modules={"acme_fast": kernel})
    registry.refresh()
    done = run("why", "Dense")
    assert done.exit_code == 1
    assert done.stderr.splitlines() == [
        "Error: 'KernelCall' object has no attribute 'params'",
        "in `when` of kernel 'Dense.bad' of acme-fast: a fault of the kernel, not of the call",
    ]


def test_no_kernel_at_all_is_a_finding(acme, run):
    done = run("why", "Many")
    assert done.exit_code == 1
    assert "Kernels\nnone\n" in done.stdout


def test_an_operator_without_a_scalar_form_says_why(acme, run, run_json):
    assert run_json("why", "Many")["forms"][0] == {
        "part": "forward",
        "form": None,
        "reason": "the operator does not say what it computes for each element",
        "line": None,
        "cure": None,
    }
    wanted = "Scalar form of forward, arg0_grad, arg1_grad\nnone: the operator does not say"
    assert wanted in run("why", "Many").stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--shape", "2xq"), "'2xq' is not a shape"),
        (("--shape", "1", "--shape", "2", "--shape", "3", "--shape", "4"), "Dense takes 3 arguments"),
        (("--ctx", "tpu"), "unknown device type 'tpu'"),
        (("--ctx", "cpu-1"), "'cpu-1' is not a context"),
        (("--dtype", "bf16"), "'bf16' is not an element type"),
    ],
)
def test_what_cannot_be_read_is_a_usage_error(acme, run, words, message):
    done = run("why", "Dense", *words)
    assert done.exit_code == 2
    assert message in done.stderr


@pytest.mark.parametrize(
    ("text", "shape"),
    [("4x5", [4, 5]), ("(4, 5)", [4, 5]), ("4,5", [4, 5]), ("7", [7]), ("(7,)", [7]), ("()", [])],
)
def test_a_shape_has_several_spellings(acme, run_json, text, shape):
    assert run_json("why", "double", "--shape", text)["shapes"] == [shape]
