"""Random networks under every way to bind and every set of passes: each binds, and computes the same.

A pass may leave an argument without a reader: a label in prediction, an argument of which only the shape
counts. The caller has arrays for it all the same.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import operad as od
from operad.graph import OpNode, Pass, plugin_passes, rewrite
from operator_sdk.sdk.tests.vector_code import require_vector_code
from tests.integration import bound_modules  # noqa: F401 - adds the ways of modules
from tests.integration.bound_networks import ACTIVATIONS, LIKE_THE_OUTPUT, LOSSES, Network
from tests.integration.bound_orders import BATCHES, EDGES, REQUESTS, TYPES, Job, digest, in_a_child
from tests.integration.bound_ways import MOVED, PREDICTED, TRAINED, Found, Way

FEW, MANY = 2, 40
GIVEN = os.environ.pop("OPERAD_TEST_SEED", "")  # which operad would refuse as a misspelt setting
ALL_ACT = 13
"""Seed of a network that every pass changes."""
NAMES = ("fusion", "hoisting", "recompute")


def seeds(count: int) -> list[int]:
    """Fresh seeds, or those from OPERAD_TEST_SEED on. Each failure names its seed, to be given there."""
    first = int(GIVEN) if GIVEN else random.getrandbits(32)
    return list(range(first, first + count))


def _made(name: str, **params: Any) -> Any:
    return getattr(od.sym, name)(od.sym.var("data"), **params).graph.outputs[0].node.op


def _plain(node: OpNode) -> Any:
    """What a node is in prediction: an operator of its first input, or None for that input itself."""
    if node.op.name == "SoftmaxOutput":
        return _made("softmax")
    return _made("sigmoid") if node.op.name == "LogisticRegressionOutput" else None


def _normalized(node: OpNode) -> Any:
    """A normalization as arithmetic: its states are plain arguments then, and a fixed gamma is none."""
    data, *rest = [od.sym.Symbol([entry]) for entry in node.inputs]
    gamma, beta, mean, variance = [od.sym.expand_dims(each, axis=0) for each in rest]
    found = od.sym.broadcast_div(od.sym.broadcast_sub(data, mean), od.sym.sqrt(variance + node.op.eps))
    found = found if node.op.fix_gamma else od.sym.broadcast_mul(found, gamma)
    return od.sym.broadcast_add(found, beta).entries[0]


DROPPED = (*LOSSES, "Dropout", "BlockGrad")


def simplify(graph: Any, facts: Any) -> Any:
    """Leave out what prediction does not need, and what only gives an array the shape that it has."""

    def visit(old: Any, new: Any) -> Any:
        shapes = (
            [facts["shapes"].of(entry) for entry in (old.inputs[0], old.entries[0])] if old.inputs else []
        )
        if new.op.name in ("reshape_like", "broadcast_like", "slice_like") and len(set(shapes)) == 1:
            return [new.inputs[0]]
        if facts["wanted"]:
            return None
        if new.op.name == "BatchNorm":
            return [_normalized(new)] * new.num_outputs
        if new.op.name not in DROPPED:
            return None
        op = _plain(new)
        found = new.inputs[0] if op is None else OpNode(op, new.name, new.inputs[:1]).entries[0]
        return [found] * new.num_outputs

    return rewrite(graph, visit), {}


def tidy(graph: Any, facts: Any) -> Any:
    """Leave out what passes values on, in the graph with gradients."""

    def visit(old: Any, new: Any) -> Any:
        return [new.inputs[0]] if new.op.name == "BlockGrad" else None

    return rewrite(graph, visit), {}


OWN = {
    "simplify": Pass("simplify", simplify, ("shapes", "wanted"), stage="forward"),
    "tidy": Pass("tidy", tidy),
}


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], Counter[str]]:
    """Choose the passes of plugins by name; gives how often each has changed a graph."""
    installed, changed = plugin_passes.installed_passes(), Counter[str]()
    monkeypatch.setenv("OPERAD_RECOMPUTE", "memory")

    def counted(name: str, step: Pass) -> Pass:
        def run(graph: Any, facts: Any) -> Any:
            found = step.run(graph, facts)
            changed[name] += found[0] is not graph
            return found

        return step._replace(run=run, distribution="tests 1.0")

    def choose(names: Any) -> Counter[str]:
        every = {**installed, **OWN}
        chosen = {name: counted(name, every[name]) for name in names if name in every}
        monkeypatch.setattr(plugin_passes, "installed_passes", lambda: chosen)
        return changed

    return choose


SETS = [NAMES, *[(name,) for name in NAMES], tuple(OWN), (*NAMES, *OWN)]


def compared(found: Found, right: dict[str, Any], where: object) -> None:
    """Compare what one way computed."""
    for name, value in found.values.items():
        largest = np.abs(right[name]).max(initial=0.0)
        np.testing.assert_allclose(
            value, right[name], 0, 1e-9 * max(largest, 1e-3), err_msg=f"{where}: {name}"
        )


def compare(seed: int, passes: Any, folder: Path, sets: Any = ((), *SETS)) -> int:
    """Compare all ways under sets of passes with the plain graph; gives how many there were."""
    network, count = Network(seed), 0
    passes(())
    network.place()
    kinds: list[tuple[dict[str, Way], Way]] = [
        (PREDICTED, PREDICTED["simple_bind_for_prediction"]),
        (TRAINED, TRAINED["simple_bind_to_write"]),
        (MOVED, MOVED["steps_of_three_parts"]),
    ]
    for ways, plain in kinds[: 3 if network.trained else 1]:
        passes(())
        right = plain(network, folder).values
        for names in sets:
            passes(names)
            for name, function in ways.items():
                where = f"OPERAD_TEST_SEED={seed}, {name}, passes {', '.join(names) or 'none'}"
                try:
                    found = function(network, folder)
                except Exception as error:
                    error.add_note(where)
                    raise
                compared(found, right, where)
                count += 1
    return count


@pytest.mark.more  # the network of the seed that every pass changes stays among the fast
def test_every_way_to_bind_computes_the_same_under_all_passes(passes, tmp_path):
    count = sum(compare(seed, passes, tmp_path) for seed in (ALL_ACT, *seeds(FEW)))
    assert count >= FEW * (1 + len(SETS)) * len(PREDICTED)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("number", range(MANY))
def test_every_way_to_bind_computes_the_same_for_many_networks(number, passes, tmp_path):
    assert compare(seeds(MANY)[number], passes, tmp_path) >= (1 + len(SETS)) * len(PREDICTED)


@pytest.mark.more
def test_every_way_to_bind_computes_the_same_where_every_pass_acts(passes, tmp_path):
    require_vector_code()
    compare(ALL_ACT, passes, tmp_path, (NAMES, (*NAMES, *OWN)))  # each pass by itself: in the test above
    assert all(passes(())[name] > 0 for name in (*NAMES, *OWN))


@pytest.mark.parametrize("seed", [ALL_ACT, *range(3)])
def test_a_monitor_is_shown_what_nothing_reads_any_more(seed, passes, tmp_path):
    """Values that are not fused are the same arrays; those of clusters are computed for the monitor."""
    network, monitored = Network(seed), PREDICTED["monitored"]
    passes(())
    right = monitored(network, tmp_path).shown
    for names in SETS[: 1 + len(NAMES)]:
        passes(names)
        found = monitored(network, tmp_path).shown
        assert found.keys() == right.keys(), names
        compared(Found(found), right, (seed, names))


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("loss", LOSSES)
def test_every_loss_behind_every_activation_predicts_without_its_gradient(loss, activation, passes):
    """What trains binds for prediction, where nothing reads the label."""
    rng = np.random.default_rng(0)
    hidden = ACTIVATIONS[activation](od.sym.var("x"), "act")
    symbol = getattr(od.sym, loss)(hidden, od.sym.var("lab"), name="loss")
    data = rng.uniform(-1, 1, (40, 32)).astype(np.float32)
    found = []
    for names in ((), NAMES, (*NAMES, *OWN)):
        passes(names)
        for request in ("null", "write"):
            executor = symbol.simple_bind(od.cpu(), grad_req=request, x=data.shape)
            assert executor.arg_dict["lab"].shape == ((40, 32) if loss in LIKE_THE_OUTPUT else (40,))
            found.append(executor.forward(is_train=False, x=data)[0].asnumpy())
    for other in found[1:]:
        np.testing.assert_allclose(other, found[0], 1e-5, 1e-6)


def jobs_of(seed: int, networks: int) -> list[Job]:
    """Jobs on some networks, each network of several sizes, one of them twice."""
    rng = random.Random(seed)
    found = []
    for number in range(networks):
        requests, dtype = rng.sample(REQUESTS, 2), rng.choice(TYPES)
        found += [
            Job(seed + number, batch, request, dtype)
            for batch in rng.sample(BATCHES, 3)
            for request in requests
        ]
        found.append(rng.choice(found))
    rng.shuffle(found)
    return found


def edges_of(seed: int, networks: int) -> list[Job]:
    """Jobs on some networks, each of two batches that one comparison tells apart, in either order."""
    rng = random.Random(seed)
    found = []
    for number in range(networks):
        request, dtype = rng.choice(REQUESTS), rng.choice(TYPES)
        for pair in rng.sample(EDGES, 3):
            found += [Job(seed + number, batch, request, dtype) for batch in rng.sample(pair, 2)]
    return found


def compare_orders(seed: int, jobs: list[Job]) -> int:
    """Compare what jobs give in two orders here, in children of this process, and in new processes."""
    script = [sys.executable, "-m", "tests.integration.bound_orders", json.dumps([*map(list, jobs)])]
    fresh = json.loads(subprocess.run(script, check=True, capture_output=True, text=True).stdout)
    right = dict(zip(jobs, fresh, strict=True))
    others = random.Random(seed).sample(jobs, len(jobs))
    for way, order, bound in (
        ("here", jobs, digest),
        ("here again", others, digest),
        ("under other names", jobs[::-1], partial(digest, prefix="another_")),
        ("child", jobs[:9], in_a_child),
    ):
        for job in order:
            assert bound(job) == right[job], f"OPERAD_TEST_SEED={seed}, {way}: {job}"
    return len(right)


@pytest.mark.more
def test_bits_do_not_depend_on_what_was_bound_before():
    for seed in seeds(1):
        assert compare_orders(seed, jobs_of(seed, networks=2)) >= 10


@pytest.mark.more
def test_bits_do_not_depend_on_a_size_that_one_comparison_tells_apart():
    for seed in seeds(1):
        assert compare_orders(seed, edges_of(seed, networks=2)) >= 10


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("number", range(MANY))
def test_bits_of_many_networks_do_not_depend_on_what_was_bound_before(number):
    seed = 1000 * number + seeds(1)[0]
    assert compare_orders(seed, [*jobs_of(seed, networks=4), *edges_of(seed, networks=4)]) >= 40
