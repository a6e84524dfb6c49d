"""`operad tune`, with times that the tests give."""

from __future__ import annotations

import json

import numpy as np
import pytest

from operad import config, registry
from operad.files import cache
from operad.operator import DEFAULTS, Cost, forget_rates, rates, tuned_path
from operad_check.commands.tune import constants, kernels
from operad_sdk import unary
from operad_sdk.vector import has_llvm

pytestmark = pytest.mark.serial


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("OPERAD_CACHE_DIR", str(tmp_path))
    config.reload()
    forget_rates()
    yield tmp_path
    monkeypatch.undo()
    config.reload()
    forget_rates()


@pytest.fixture
def a_machine(monkeypatch):
    """Every call takes 5 us, whatever it computes."""

    def least_us(function):
        function()
        return 5.0

    for module in (constants, kernels):
        monkeypatch.setattr(module, "least_us", least_us)
    monkeypatch.setattr(constants, "_IN_MEMORY", 1 << 10)


@pytest.fixture
def doubled():
    made = unary("acme_doubled")(lambda x: 2 * x)
    made.kernel("forward", name="never", priority=1, when=lambda call: "not here")(lambda x: x)
    registry.register(made)
    yield made
    registry.unregister("acme_doubled")


def test_constants_are_written_where_binding_reads_them(a_machine, run_json):
    found = run_json("tune")
    assert found["path"] == str(tuned_path())
    assert rates() is not DEFAULTS
    assert set(rates().functions) == set(DEFAULTS.functions)
    shown = {constant["name"]: constant["measured"] for constant in found["constants"]}
    assert shown["memory_us"] >= shown["byte_us"] > 0
    assert shown["flop_us"] == rates().flop_us == 5.0 / (2 * 256**3)


def test_kernels_that_apply_are_measured_and_others_kept(a_machine, doubled, run_json):
    run_json("tune", "tanh")
    run_json("tune", "acme_doubled", "--shape", "3x4")
    compiled = {"tanh.vector_forward", "acme_doubled.vector_forward"} if has_llvm() else set()
    assert set(rates().kernels) == {"tanh.forward", "acme_doubled.forward", *compiled}
    # All calls take as long, so nothing of it grows with the arrays.
    assert rates().kernels["acme_doubled.forward"].base_us == pytest.approx(5.0)
    assert rates().kernels["acme_doubled.forward"].factor == pytest.approx(0.0, abs=1e-9)


def test_a_file_that_is_no_use_is_written_anew(a_machine, run_json):
    tuned_path().write_text("{}")
    with pytest.warns(RuntimeWarning, match="is damaged"):
        run_json("tune")
    assert json.loads(cache.read(tuned_path()))[3] == rates().memory_us


def test_a_folder_that_cannot_be_written_is_named(a_machine, run, folder):
    folder.chmod(0o777)
    done = run("tune")
    folder.chmod(0o700)
    assert done.exit_code == 1
    assert f"tune: {str(tuned_path())!r} cannot be written (other users may write to" in done.stderr


def test_shapes_go_with_one_operator(a_machine, run):
    done = run("tune", "tanh", "exp", "--shape", "3")
    assert done.exit_code == 2
    assert "--shape and --param go with one operator, got 2" in done.stderr


def test_an_operator_of_which_nothing_can_be_run_is_named(a_machine, doubled, run):
    doubled.kernels[:] = [kernel for kernel in doubled.kernels if kernel.when is not None]
    done = run("tune", "acme_doubled")
    assert done.exit_code == 1
    assert "tune acme_doubled" in done.stderr


def test_a_line_through_measurements_is_found():
    costs = [Cost(loops=n) for n in (1e3, 1e5, 1e7)]
    found = kernels.fitted([(cost, 2.0 + 3.0 * cost.work_us) for cost in costs])
    assert found == pytest.approx((2.0, 3.0))


def test_products_keep_their_speed_and_get_a_base():
    costs = [Cost(flops=n) for n in (1e4, 1e6, 1e8)]
    found = kernels.fitted([(cost, 7.0 + 5 * cost.work_us) for cost in costs])
    assert found.factor == 1.0
    assert found.base_us >= 7.0


def test_one_large_product_that_was_fast_does_not_take_the_base_away():
    small, large = Cost(flops=1e4), Cost(flops=1e8)
    found = kernels.fitted([(small, 7.0 + small.work_us), (large, 0.9 * large.work_us)])
    assert found.base_us == pytest.approx(7.0, rel=0.05)


def test_the_least_of_several_turns_counts(monkeypatch, doubled):
    times = iter([50.0, 5.0, 50.0])
    monkeypatch.setattr(kernels, "least_us", lambda function: next(times))
    monkeypatch.setattr(kernels, "_SIZES", (64,))
    monkeypatch.setattr(kernels, "fitted", lambda pairs: [us for _, us in pairs])
    assert kernels.corrections("acme_doubled", {}, [(8, 8)]) == {"acme_doubled.forward": [5.0]}


def test_calls_grow_along_the_axes_that_parameters_leave_free():
    for name in ("tanh", "FullyConnected", "LayerNorm"):
        prop = kernels.sample_property(registry.get(name), {})
        sizes = [np.prod(shapes[0]) for shapes in kernels._calls(prop, ())]
        assert sizes == sorted(sizes)
        assert len(sizes) > 2
