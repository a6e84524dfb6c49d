"""Operators as PyTorch's own; skipped where PyTorch is not installed."""

from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import operad as od
from operad.errors import ArgumentError, DTypeError, GradientError, ShapeError, UnsupportedError

torch = pytest.importorskip("torch")
for plugin in (
    "normalization",
    "fully_connected",
    "dropout",
    "shape",
    "optimizer",
    "elemwise",
    "custom",
    "indexing",
):
    pytest.importorskip(f"operad_{plugin}")

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(autouse=True)
def no_compiled_code_is_left():
    yield
    torch._dynamo.reset()


def normal(*shape, **options):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64, **options)


def compiled(function, **options):
    return torch.compile(function, fullgraph=True, backend="aot_eager", **options)


def test_pytorchs_own_checks_pass():
    lrn = od.export.torch("LRN", nsize=3)
    x = normal(2, 4, 3, 3, requires_grad=True)
    torch.library.opcheck(lrn.op, (x,), {"nsize": 3})
    assert torch.autograd.gradcheck(lrn, [x])
    np.testing.assert_array_equal(compiled(lrn)(x).detach(), lrn(x).detach())


def test_it_is_found_in_pytorchs_namespace_with_its_schema():
    od.export.torch("LRN", nsize=3)
    assert str(torch.ops.operad.LRN.default._schema) == (
        "operad::LRN(Tensor data, *, float alpha=0.0001, float beta=0.75, float knorm=2., int nsize, "
        "bool is_train=False) -> Tensor"
    )


def test_nothing_is_copied_and_strides_do_not_matter():
    double = od.export.torch("square")
    x = normal(4, 5).t()
    np.testing.assert_array_equal(double(x), x.numpy() ** 2)
    np.testing.assert_array_equal(double(x[:1].expand(7, 4)), np.broadcast_to(x[:1].numpy() ** 2, (7, 4)))
    negative = torch._neg_view(x)
    np.testing.assert_array_equal(double(negative), x.numpy() ** 2)


def test_autograd_keeps_what_the_wanted_gradients_read_and_nothing_else():
    dense = od.export.torch("FullyConnected", num_hidden=4)
    kept = []
    x, w, b = normal(3, 5), normal(4, 5, requires_grad=True), normal(4)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: kept.append(t.shape) or t, lambda t: t):
        y = dense(x, w, b)
    assert kept == [x.shape]
    y.sum().backward()
    torch.testing.assert_close(w.grad, x.sum(0).expand(4, 5))


def test_only_the_gradients_that_a_call_asks_for_are_computed():
    mul = od.export.torch("elemwise_mul")
    a, b = normal(3, requires_grad=True), normal(3, requires_grad=True)
    (found,) = torch.autograd.grad(mul(a, b).sum(), [b])
    torch.testing.assert_close(found, a.detach())


def test_states_are_changed_in_place_also_in_compiled_code():
    norm = od.export.torch("BatchNorm", fix_gamma=False, momentum=0.5)
    x, ones, zeros = normal(8, 4, requires_grad=True), torch.ones(4).double(), torch.zeros(4).double()
    found = []
    for call in (norm, compiled(norm)):
        mean, var = zeros.clone(), ones.clone()
        y = call(x, ones, zeros, mean, var, is_train=True)
        (grad,) = torch.autograd.grad((y * x).sum(), [x])
        found.append([y, mean, var, grad])
    torch.testing.assert_close(found[0][1], x.detach().mean(0) / 2)
    for eager, other in zip(*found, strict=True):
        torch.testing.assert_close(other, eager, rtol=0, atol=0)


def test_an_update_changes_its_momentum_and_counts_a_version():
    update = od.export.torch("sgd_mom_update", lr=0.5, momentum=0.5)
    weight, grad, mom = torch.ones(3), torch.ones(3), torch.zeros(3)
    version = mom._version
    torch.testing.assert_close(update(weight, grad, mom), torch.full((3,), 0.5))
    torch.testing.assert_close(mom, torch.full((3,), -0.5))
    assert mom._version > version


def test_arguments_and_states_of_a_varying_number_are_two_lists():
    update = od.export.torch(
        "multi_sgd_mom_update", lrs=[0.5, 0.5], wds=[0.0, 0.0], momentum=0.5, num_weights=2
    )
    states = [torch.zeros(2), torch.zeros(3)]
    first, second = update([torch.ones(2), torch.ones(2), torch.ones(3), torch.ones(3)], states)
    torch.testing.assert_close((first, second), (torch.full((2,), 0.5), torch.full((3,), 0.5)))
    torch.testing.assert_close(states[1], torch.full((3,), -0.5))


def test_any_number_of_tensors():
    concat = od.export.torch("Concat", dim=0)
    a, b = normal(2, 3, requires_grad=True), normal(1, 3)
    for found in (concat(a, b), concat([a, b]), compiled(concat)(a, b)):
        torch.testing.assert_close(found, torch.cat([a, b]))
    (grad,) = torch.autograd.grad(concat(b, a).sum(), [a])
    torch.testing.assert_close(grad, torch.ones_like(a))


def test_pytorchs_generator_and_a_seed_decide_what_is_drawn():
    drop = od.export.torch("Dropout", p=0.5)
    x = torch.ones(64)

    def drawn(**options):
        return drop(x, is_train=True, **options)

    torch.manual_seed(1)
    first, second = drawn(), drawn()
    torch.manual_seed(1)
    assert torch.equal(drawn(), first)
    assert not torch.equal(first, second)
    assert torch.equal(drawn(seed=3), drawn(seed=3))
    generators = [torch.Generator().manual_seed(5) for _ in range(2)]
    assert torch.equal(*[drawn(generator=generator) for generator in generators])
    assert torch.equal(drop(x), x)


def test_recomputation_draws_the_same_again():
    from torch.utils.checkpoint import checkpoint

    drop = od.export.torch("Dropout", p=0.5)
    x = torch.ones(64, requires_grad=True)
    y = checkpoint(lambda t: drop(t, is_train=True), x, use_reentrant=False)
    y.sum().backward()
    assert torch.equal(x.grad, y.detach())


def test_gradients_of_gradients_of_any_order():
    tanh, dense = od.export.torch("tanh"), od.export.torch("FullyConnected", num_hidden=3)
    assert torch.autograd.gradgradcheck(tanh, [normal(3, requires_grad=True)])
    assert torch.autograd.gradgradcheck(
        dense, [normal(*s, requires_grad=True) for s in ((2, 4), (3, 4), (3,))]
    )
    x = normal(3, requires_grad=True)
    found = []
    for function in (tanh, torch.tanh):
        y = function(x).sum()
        for _ in range(3):
            (grad,) = torch.autograd.grad(y, [x], create_graph=True)
            y = grad.sum()
        found.append(grad)
    torch.testing.assert_close(*found)


def test_a_node_with_states_has_second_derivatives():
    norm = od.export.torch("BatchNorm", fix_gamma=False)
    states = torch.zeros(3).double(), torch.ones(3).double()

    def standardized(x, gamma, beta):
        return norm(x, gamma, beta, *(state.clone() for state in states), is_train=True)

    arrays = [normal(4, 3, requires_grad=True), normal(3, requires_grad=True), normal(3, requires_grad=True)]
    assert torch.autograd.gradgradcheck(standardized, arrays)


def test_a_gradient_that_has_none_says_so_where_one_is_asked_for():
    loss = od.export.torch("SoftmaxOutput")
    x = normal(2, 3, requires_grad=True)
    (grad,) = torch.autograd.grad(loss(x, torch.zeros(2).double()).sum(), [x], create_graph=True)
    with pytest.raises(GradientError, match="the gradient of SoftmaxOutput cannot be differentiated"):
        torch.autograd.grad(grad.sum(), [x])


def test_symbolic_sizes_stay_symbols():
    counter = torch._dynamo.testing.CompileCounter()
    dense = od.export.torch("FullyConnected", num_hidden=4, no_bias=True)
    call = torch.compile(dense, fullgraph=True, dynamic=True, backend=counter)
    for rows, columns in ((3, 5), (7, 6), (8, 9)):
        x, w = normal(rows, columns), normal(4, columns)
        torch.testing.assert_close(call(x, w), x @ w.t())
    assert counter.frame_count == 1


def test_shapes_that_depend_on_values():
    mask = od.export.torch("_contrib_boolean_mask")
    x, keep = normal(4, 2, requires_grad=True), torch.tensor([1, 0, 1, 1])
    y = mask(x, keep)
    torch.testing.assert_close(y, x[keep.bool()])
    (grad,) = torch.autograd.grad(y.sum(), [x])
    torch.testing.assert_close(grad, keep[:, None].expand(4, 2).double())


def test_exported_programs_find_their_operators_again(tmp_path):
    class Net(torch.nn.Module):
        def forward(self, x):
            return torch.ops.operad.LRN(x, nsize=3)

    od.export.torch("LRN", nsize=3)
    x = normal(2, 4, 3, 3)
    torch.export.save(torch.export.export(Net(), (x,)), tmp_path / "net.pt2")
    loaded = torch.export.load(tmp_path / "net.pt2").module()
    assert torch.equal(loaded(x), torch.ops.operad.LRN(x, nsize=3))


def test_states_change_under_inference_mode():
    update = od.export.torch("sgd_mom_update", lr=0.5, momentum=0.5)
    with torch.inference_mode():
        mom = torch.zeros(3)
        update(torch.ones(3), torch.ones(3), mom)
    torch.testing.assert_close(mom, torch.full((3,), -0.5))


def test_a_batch_by_vmap():
    lrn = od.export.torch("LRN", nsize=3)
    x = normal(3, 2, 4, 3, 3)
    torch.testing.assert_close(torch.func.vmap(lrn)(x), torch.stack([lrn(item) for item in x]))


def test_empty_tensors():
    dense = od.export.torch("FullyConnected", num_hidden=4, no_bias=True)
    w = normal(4, 5, requires_grad=True)
    y = dense(normal(0, 5), w)
    y.sum().backward()
    assert y.shape == (0, 4)
    assert not w.grad.any()


def test_threads_compute_what_one_does():
    lrn = od.export.torch("LRN", nsize=3)

    def work(seed):
        x = torch.randn(2, 4, 6, 6, generator=torch.Generator().manual_seed(seed), requires_grad=True)
        lrn(x).square().sum().backward()
        return x.grad

    alone = [work(seed) for seed in range(16)]
    with ThreadPoolExecutor(8) as threads:
        together = list(threads.map(work, range(16)))
    assert all(map(torch.equal, alone, together))


def test_errors_are_the_operators_own():
    dense = od.export.torch("FullyConnected", num_hidden=4)
    with pytest.raises(ShapeError, match="weight has shape"):
        dense(normal(3, 5), normal(4, 6), normal(4))
    with pytest.raises(ArgumentError, match="bias is missing"):
        dense(normal(3, 5), normal(4, 5))
    with pytest.raises(DTypeError, match=r"data is torch.bfloat16.*tensor.to\(torch.float32\)"):
        dense(torch.ones(3, 5, dtype=torch.bfloat16), normal(4, 5), normal(4))
    with pytest.raises(UnsupportedError, match="Custom: an operator that keeps something"):
        od.export.torch("Custom", op_type="mine")


def test_an_operator_without_a_gradient_gives_none():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sign = od.export.torch("sign")
        x = normal(3, requires_grad=True)
        (sign(x).sum() + x.sum()).backward()
    torch.testing.assert_close(x.grad, torch.ones_like(x))


def test_a_list_of_axes_may_hold_none():
    part = od.export.torch("slice", begin=(None, 1), end=(2, None))
    torch.testing.assert_close(compiled(part)(normal(3, 4)), normal(3, 4)[:2, 1:])
