"""PyTorch as a library of the checks; skipped where PyTorch is not installed."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is an extra")

from operad_check import Case  # noqa: E402 - after the skip
from operad_check.foreign.function import function_of  # noqa: E402 - after the skip
from operad_check.foreign.subject import subject_of_function  # noqa: E402 - after the skip
from operad_check.running.repro import run_on  # noqa: E402 - after the skip
from operad_check_torch import check_torch  # noqa: E402 - after the skip
from operad_check_torch.backend import TorchBackend  # noqa: E402 - after the skip
from operad_sdk import Contract, Index  # noqa: E402 - after the skip
from operator_sdk.check.tests.foreign.reports import failure  # noqa: E402 - after the skip

pytestmark = pytest.mark.filterwarnings("default")  # PyTorch warns of its own

LINE = "x:(...) -> y:(...)"
ROWS = "x:(N, D) -> y:(N); D >= 1"


@pytest.fixture
def backend():
    return TorchBackend()


def fails(script):
    with pytest.raises((AssertionError, RuntimeError)):
        exec(compile(script, "<program>", "exec"), {"__name__": "__main__"})  # noqa: S102 - made by the harness


def test_a_tensor_shares_the_memory_of_its_array(backend):
    array = np.zeros((2, 3))
    backend.array(array)[0, 0] = 1
    assert array[0, 0] == 1


@pytest.mark.parametrize("view", [lambda a: a.T, lambda a: a[:, ::2]], ids=["transposed", "strided"])
def test_a_tensor_has_the_strides_of_its_array(backend, view):
    array = view(np.arange(12.0).reshape(3, 4))
    assert backend.array(array).stride() == tuple(stride // 8 for stride in array.strides)
    assert np.array_equal(backend.numpy(backend.array(array)), array)


def test_repeated_elements_make_an_expanded_tensor(backend):
    array = np.broadcast_to(np.arange(3.0)[:, None], (3, 4))
    assert backend.array(array).stride() == (1, 0)
    assert np.array_equal(backend.numpy(backend.array(array)), array)


def test_reversed_arrays_are_copied(backend):
    array = np.arange(3.0)[::-1]
    assert backend.array(array).tolist() == [2, 1, 0]


def test_bfloat16_comes_back_as_float32(backend):
    made = backend.array(np.array([1.00390625]), "bfloat16")
    assert made.dtype == torch.bfloat16
    assert backend.numpy(made).dtype == np.float32


def test_gradients_of_arguments_that_are_not_read_are_none(backend):
    ones = [torch.ones(2), torch.ones(2)]
    _, pull = backend.vjp(lambda a, b: a * 2, ones, [0, 1])
    first, second = pull([torch.ones(2)])
    assert first.tolist() == [2, 2]
    assert second is None


def test_a_fault_that_pytorch_reports_of_itself_is_no_refusal(backend):
    assert backend.is_refusal(ValueError("expected 3 axes"))
    assert not backend.is_refusal(RuntimeError("x INTERNAL ASSERT FAILED at y"))


def test_a_right_function_is_green():
    assert check_torch("torch.tanh(x)", LINE).red_ids == []


def test_results_of_tensors_with_other_strides_are_compared():
    def reads_memory(x):
        return torch.as_strided(x, x.shape, torch.empty(x.shape).stride()) * 1.0

    report = check_torch(reads_memory, "x:(N, D) -> y:(N, D)", checks=["F211"])
    assert report.red_ids == ["F211"]


class Doubled(torch.autograd.Function):
    """Twice the argument; a wrong gradient, forward derivative or rule for batches is asked for."""

    wrong = ""

    @staticmethod
    def forward(x):
        return x * 2

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, g):
        return g * (3 if Doubled.wrong == "backward" else 2)

    @staticmethod
    def jvp(ctx, dx):
        return dx * (3 if Doubled.wrong == "forward" else 2)

    @staticmethod
    def vmap(info, in_dims, x):
        return x * (3 if Doubled.wrong == "batch" else 2), in_dims[0]


@pytest.mark.parametrize(
    ("wrong", "id"), [("", None), ("backward", "B301"), ("forward", "L902"), ("batch", "L903")]
)
def test_rules_that_disagree_are_red(monkeypatch, wrong, id):
    monkeypatch.setattr(Doubled, "wrong", wrong)
    report = check_torch(lambda x: Doubled.apply(x), LINE, checks=["B301", "L902", "L903"])
    assert report.red_ids == ([] if id is None else ["B301", "L902"] if id == "B301" else [id])


class Cube(torch.autograd.Function):
    """The cube of each element; classes that derive from it have the gradient."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3


def test_a_gradient_that_is_a_constant_for_autograd_is_red():
    class Cubed(Cube):
        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * 3 * x.detach() ** 2

    assert check_torch(lambda x: Cubed.apply(x), LINE, checks=["B301", "B312"]).red_ids == ["B312"]
    assert check_torch("x ** 3", LINE, checks=["B301", "B312"]).red_ids == []


def test_a_function_that_is_differentiable_once_refuses_a_second_derivative():
    class Cubed(Cube):
        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * 3 * x**2

    report = check_torch(lambda x: Cubed.apply(x), LINE, checks=["B301", "B312"])
    assert (report.red_ids, report.broken_ids) == ([], [])


def test_a_gradient_that_refuses_to_be_differentiated_is_no_fault():
    report = check_torch("torch.cdist(a, b, 1.5)", "a:(B, N, D), b:(B, M, D) -> y:(B, N, M)", checks=["B312"])
    assert report.red_ids == []


def test_bfloat16_is_compared_with_float64():
    def counts(x):
        return torch.ones_like(x).cumsum(-1) if x.dtype != torch.bfloat16 else torch.zeros_like(x)

    report = check_torch(counts, "x:(N, D) -> y:(N, D)", checks=["L908"])
    assert report.red_ids == ["L908"]
    assert "in bfloat16" in failure(report, "L908").message


def test_rounding_on_the_way_may_reach_the_other_side_of_a_kink(backend):
    def saturated(x):  # the third colour is 1.0019 before it is rounded to 1
        gray = 0.2989 * x[0] + 0.587 * x[1] + 0.114 * x[2]
        return (1.5 * x - 0.5 * gray).clamp(0, 1)

    subject = subject_of_function(function_of(backend, saturated, "x:(3, M, N) -> y:(3, M, N)"))
    pixels = np.full((3, 3, 4), 0.5, "float32")
    pixels[:, 1, 2] = 0.875, 0.75, 0.9375
    case = Case(params={}, inputs={"x": pixels}, is_train=True, seed=3)
    assert run_on(next(one for one in backend.checks if one.id == "L909"), subject, [case])


def test_out_is_compared_with_the_result():
    def scaled(x, out=None):
        return x * 2 if out is None else x * 2 + 0 * out.fill_(7)

    assert check_torch(scaled, LINE, checks=["L906"]).red_ids == ["L906"]
    assert check_torch("torch.exp(x)", LINE, checks=["L906"]).red_ids == []


def test_gradients_of_expanded_heads_are_compared():
    class Flat(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * (2 if g.is_contiguous() else 3)

    report = check_torch(lambda x: Flat.apply(x), "x:(N, D) -> y:(N, D)", checks=["L907"])
    assert report.red_ids == ["L907"]


def test_the_compiled_function_is_compared():
    def known(x):
        return x * (3 if torch.compiler.is_compiling() else 2)

    assert check_torch(known, LINE, checks=["L901"]).red_ids == ["L901"]


def test_a_median_of_expanded_tensors_has_a_program_that_fails_alone():
    report = check_torch("torch.median(x, -1).values", ROWS, checks=["M409"])
    if torch.__version__.startswith("2.13"):  # another version may have it right
        found = failure(report, "M409")
        assert "operad" not in found.script
        assert len(found.script.splitlines()) <= 10
        fails(found.script)


def test_a_reference_may_be_given():
    report = check_torch("torch.exp(x)", LINE, contract=Contract(reference=np.exp), checks=["F213"])
    assert report.red_ids == []


class _Entropy(torch.autograd.Function):
    """A cross entropy whose gradient does not depend on `x` any more, so that it has no derivative."""

    @staticmethod
    def forward(ctx, x, i):
        ctx.save_for_backward(torch.softmax(x, -1), i)
        return -torch.log_softmax(x, -1).gather(-1, i[:, None])[:, 0]

    @staticmethod
    def backward(ctx, head):
        p, i = ctx.saved_tensors
        return (p.detach() - torch.nn.functional.one_hot(i, p.shape[-1])) * head[:, None], None


def test_the_second_derivative_is_checked_beside_an_argument_of_whole_numbers():
    contract = Contract(inputs={"i": Index("x", 1)})
    line = "x:(N, C), i:int64(N) -> y:(N); C >= 1"

    def entropy(x, i):
        return _Entropy.apply(x, i)

    report = check_torch(entropy, line, contract=contract, checks=["B301", "B312"])
    right = check_torch("F.cross_entropy(x, i, reduction='none')", line, contract=contract, checks=["B312"])

    assert (report.red_ids, report.broken_ids) == (["B312"], [])
    assert [(one.red_id, any(one.evidence.values())) for one in right.outcomes] == [(None, True)]


def test_what_a_function_gives_beside_tensors_breaks_nothing():
    report = check_torch("(x * 2, None)", "x:(N) -> y:(N)", checks=["F201", "B301", "B312"])
    assert (report.red_ids, report.broken_ids) == ([], [])
