"""What is computed again, what is not, and what a program sees of it."""

from __future__ import annotations

import numpy as np
import pytest

import operad as od
from operad.errors import ConfigError, GradientError
from operad_recompute import free
from operad_recompute.settings import RecomputeSettings


@pytest.fixture(autouse=True)
def single_operators(monkeypatch):
    """Nodes that run once more are seen by their names, which clusters would hide."""
    monkeypatch.setenv("OPERAD_FUSION", "off")


@pytest.fixture
def mode(monkeypatch):
    def choose(mode, budget_bytes=None):
        monkeypatch.setenv("OPERAD_RECOMPUTE", mode)
        if budget_bytes is None:
            monkeypatch.delenv("OPERAD_RECOMPUTE_BYTES", raising=False)
        else:
            monkeypatch.setenv("OPERAD_RECOMPUTE_BYTES", str(budget_bytes))

    return choose


def chain(count, **attributes):
    out = od.sym.var("x")
    for _ in range(count):
        with od.AttrScope(**attributes):
            out = od.sym.tanh(out)
    return out


def perceptron(layers):
    out = od.sym.var("x")
    for i in range(layers):
        out = od.sym.tanh(od.sym.FullyConnected(out, num_hidden=256, name=f"fc{i}"))
    return out


def residual(data, name):
    """`relu(data + norm(conv(relu(norm(conv(data))))))`."""
    inner = data
    for part in "ab":
        inner = od.sym.relu(inner) if part == "b" else inner
        inner = od.sym.Convolution(
            inner, num_filter=16, kernel=(3, 3), pad=(1, 1), no_bias=True, name=f"{name}{part}"
        )
        inner = od.sym.BatchNorm(inner, fix_gamma=False, name=f"{name}{part}_norm")
    return od.sym.relu(data + inner)


def again(executor):
    """The names of the nodes that run once more, in order."""
    nodes = executor.program.graph.nodes
    return [node.name.removesuffix("_mirror") for node in nodes if node.name.endswith("_mirror")]


def step(executor):
    """Outputs, gradients and states of one training step."""
    rng = np.random.default_rng(0)
    for _, array in sorted(executor.arg_dict.items()):
        array[:] = rng.uniform(-1, 1, array.shape)
    executor.forward(is_train=True)
    executor.backward([od.nd.array(rng.uniform(-1, 1, array.shape)) for array in executor.outputs])
    arrays = (*executor.outputs, *executor.grad_arrays, *executor.aux_arrays)
    return [array.asnumpy().tobytes() for array in arrays]


@pytest.mark.parametrize(
    ("network", "shape", "share"),
    [(chain(36), (64, 64), 0.31), (perceptron(24), (512, 256), 0.45), (chain(10), (2000, 2000), 0.6)],
    ids=["chain of 36", "perceptron of 24", "chain of 10"],
)
def test_memory_mode_plans_a_fraction(mode, network, shape, share):
    mode("off")
    plain = network.simple_bind(x=shape).memory_plan.planned_bytes
    mode("memory")
    assert network.simple_bind(x=shape).memory_plan.planned_bytes <= share * plain


@pytest.mark.parametrize("share", [0.9, 0.6, 0.5])
def test_a_budget_is_met_by_computing_no_more_again_than_it_takes(mode, share):
    network = perceptron(12)
    mode("off")
    plain = network.simple_bind(x=(64, 256))
    mode("memory")
    least = network.simple_bind(x=(64, 256))
    budget = int(share * plain.memory_plan.planned_bytes)
    mode("memory", budget)
    within = network.simple_bind(x=(64, 256))
    assert within.memory_plan.planned_bytes <= budget
    assert 0 < len(again(within)) <= len(again(least))
    assert step(within) == step(plain)


def test_a_budget_that_cannot_be_met_is_a_warning_with_what_can(mode):
    mode("memory")
    least = chain(9).simple_bind(x=(512, 512)).memory_plan.planned_bytes
    mode("memory", 1000)
    with pytest.warns(RuntimeWarning, match=f"is 1000, but a plan needs {least} bytes at least"):
        assert chain(9).simple_bind(x=(512, 512)).memory_plan.planned_bytes == least


def test_a_budget_that_is_met_anyhow_changes_nothing(mode):
    mode("memory", 1 << 30)
    assert again(chain(9).simple_bind(x=(512, 512))) == []


def test_batch_norm_and_what_follows_are_computed_again_and_its_states_move_once(mode):
    network = residual(residual(od.sym.var("x"), "one"), "two")
    mode("off")
    plain = network.simple_bind(x=(4, 16, 8, 8))
    mode("memory")
    small = network.simple_bind(x=(4, 16, 8, 8))
    assert any("norm" in name for name in again(small))
    assert small.memory_plan.planned_bytes < 0.75 * plain.memory_plan.planned_bytes
    assert step(small) == step(plain)
    assert step(small) == step(plain)


@pytest.mark.parametrize("dtype", ["float16", "float64"])
def test_batch_norm_gives_the_same_bits_again_in_every_type(mode, dtype):
    network = od.sym.square(od.sym.BatchNorm(od.sym.square(od.sym.var("x")), name="norm", axis=-1))
    mode("off")
    plain = network.simple_bind(x=(3, 5, 64), type_dict={"x": dtype})
    mode("memory")
    with od.AttrScope(force_mirroring="True"):
        forced = od.sym.square(od.sym.BatchNorm(od.sym.square(od.sym.var("x")), name="norm", axis=-1))
    small = forced.simple_bind(x=(3, 5, 64), type_dict={"x": dtype})
    assert "norm" in again(small)
    assert step(small) == step(plain)


@pytest.mark.parametrize("params", [{"use_global_stats": True}, {"output_mean_var": True}])
def test_batch_norm_is_not_computed_again_where_its_output_depends_on_the_mode(mode, params):
    mode("memory")
    with od.AttrScope(force_mirroring="True"):
        out = od.sym.square(od.sym.BatchNorm(od.sym.square(od.sym.var("x")), name="norm", **params)[0])
    assert "norm" not in again(out.simple_bind(x=(3, 5)))


def test_what_draws_random_numbers_is_not_run_twice(mode):
    mode("memory")
    with od.AttrScope(force_mirroring="True"):
        out = od.sym.tanh(od.sym.var("x"))
        for i in range(6):
            out = od.sym.tanh(od.sym.Dropout(out, name=f"drop{i}"))
    executor = out.simple_bind(x=(64, 64))
    assert again(executor)
    assert all(name.startswith("tanh") for name in again(executor))


class TestFree:
    def gelu(self):
        """A gate of elementary operators before a product: much to keep, cheap to compute."""
        x = od.sym.FullyConnected(od.sym.var("x"), num_hidden=1024, name="fc")
        gate = od.sym.maximum(x * 0.5 + 0.5, 0) * od.sym.minimum(x, 1)
        return od.sym.FullyConnected(gate * x, num_hidden=1024, name="out")

    @pytest.mark.more
    def test_keeps_less_for_little_time(self, mode):
        mode("off")
        plain = self.gelu().simple_bind(x=(256, 8192))
        mode("free")
        small = self.gelu().simple_bind(x=(256, 8192))
        assert small.memory_plan.planned_bytes < plain.memory_plan.planned_bytes
        assert again(small)
        assert not any(name in {"fc", "out"} for name in again(small))
        assert step(small) == step(plain)

    def test_is_the_default(self, monkeypatch):
        monkeypatch.delenv("OPERAD_RECOMPUTE", raising=False)
        assert again(self.gelu().simple_bind(x=(256, 8192)))

    def test_leaves_small_graphs_alone(self, mode):
        mode("free")
        assert again(self.gelu().simple_bind(x=(4, 1024))) == []

    def test_spends_a_share_of_the_step_and_no_more(self, mode, monkeypatch):
        mode("free")
        some = again(chain(100).simple_bind(x=(512, 512)))
        monkeypatch.setattr(free, "FREE_SHARE", 0.1)
        monkeypatch.setenv("ANOTHER", "1")  # so that the same network is compiled again
        assert len(some) < len(again(chain(100).simple_bind(x=(512, 512)))) <= 30

    def test_reads_no_input_that_backward_did_not_read(self, mode, monkeypatch):
        monkeypatch.setattr(free, "FREE_SHARE", 1.0)
        x, weight = od.sym.var("x"), od.sym.var("w")
        made = od.sym.FullyConnected(od.sym.square(x + weight), num_hidden=1024, name="fc")
        network = od.sym.tanh(made)
        for choice, reads in (("free", False), ("memory", True)):
            mode(choice)
            executor = network.simple_bind(grad_req={"w": "write"}, x=(512, 1024), w=(512, 1024))
            executor.forward(is_train=True)
            executor.arg_dict["x"][:] = 7
            if reads:
                with pytest.raises(GradientError, match="argument 'x' was overwritten"):
                    executor.backward(od.nd.ones((512, 1024)))
            else:
                executor.backward(od.nd.ones((512, 1024)))


def test_force_mirroring_is_obeyed_both_ways(mode):
    mode("free")
    forced = chain(6, force_mirroring="True").simple_bind(x=(4, 4))
    assert len(again(forced)) == 5  # the last output is an array of the caller's
    mode("memory")
    assert again(chain(6, force_mirroring="False").simple_bind(x=(512, 512))) == []
    mode("off")
    assert again(chain(6, force_mirroring="True").simple_bind(x=(4, 4))) == []


def test_what_is_computed_again_waits_for_the_gradients_of_its_reader(mode):
    mode("memory")
    nodes = [n.name for n in chain(12).simple_bind(x=(512, 512)).memory_plan.schedule.graph.nodes]
    first = next(i for i, name in enumerate(nodes) if name.endswith("_mirror"))
    last = max(i for i, name in enumerate(nodes) if name.endswith("_mirror"))
    assert any(name.endswith("_backward") for name in nodes[first:last])


@pytest.mark.parametrize("is_train", [True, False])
def test_what_is_computed_again_is_that_of_the_pass_that_ran(mode, is_train):
    found = []
    for how in ("off", "memory"):
        mode(how)
        with od.AttrScope(force_mirroring="True"):
            norm = od.sym.BatchNorm(od.sym.var("x"), name="norm", fix_gamma=False)
            out = od.sym.FullyConnected(od.sym.relu(norm), num_hidden=4, name="fc")
        executor = out.simple_bind(grad_req={"fc_weight": "write"}, x=(512, 64))
        assert bool(again(executor)) == (how == "memory")
        for position, array in enumerate([*executor.arg_arrays, *executor.aux_arrays]):
            values = np.random.default_rng(position).uniform(0.5, 1.5, array.shape)
            array[:] = od.nd.array(values)
        executor.forward(is_train=is_train)
        executor.backward(od.nd.ones((512, 4)))
        found.append(executor.grad_dict["fc_weight"].asnumpy())
    np.testing.assert_array_equal(*found)


def test_the_tape_is_left_as_it_is(mode):
    mode("memory")
    x = od.nd.ones((4, 4))
    x.attach_grad()
    with od.autograd.record():
        y = od.nd.tanh(od.nd.tanh(x))
    y.backward()
    inner = np.tanh(1)
    np.testing.assert_allclose(
        x.grad.asnumpy(), (1 - np.tanh(inner) ** 2) * (1 - inner**2) * np.ones((4, 4)), rtol=1e-6
    )


@pytest.mark.parametrize(
    ("environ", "message"),
    [
        (
            {"OPERAD_RECOMPUTE": "much"},
            "OPERAD_RECOMPUTE='much': expected one of off, free, memory; What backward",
        ),
        (
            {"OPERAD_RECOMPUTE": "memory", "OPERAD_RECOMPUTE_BYTES": "-1"},
            "BYTES='-1': expected an integer",
        ),
        ({"OPERAD_RECOMPUTE_BYTES": "5"}, "is set, but OPERAD_RECOMPUTE is 'free'"),
    ],
)
def test_a_setting_that_cannot_be_used_is_named(environ, message):
    with pytest.raises(ConfigError, match=message):
        RecomputeSettings.from_environment(environ)
