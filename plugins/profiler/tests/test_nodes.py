"""The table of nodes: what bound graphs and recorded backward passes did, under every way of running them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import operad as od
from operad_profiler import recording
from plugins.profiler.tests.reports import assert_threads_add_up, found, network, rows, train

profiler = od.profiler


@pytest.mark.usefixtures("each_engine")
def test_each_node_of_what_was_bound_before_has_a_row_for_each_pass() -> None:
    executor = network()
    profiler.start()
    for _ in range(3):
        train(executor)
    report = found()
    table = rows(report)
    passes = {(name, way) for name in ("fc1", "act", "fc2", "softmax") for way in ("forward", "backward")}
    assert passes <= set(table)
    assert {table[key]["Count"] for key in passes} == {3}
    fc1 = table["fc1", "forward"]
    assert (fc1["Operator"], fc1["Kernel"], fc1["Device"]) == (
        "FullyConnected", "FullyConnected.forward", "cpu(0)",
    )  # fmt: skip
    assert fc1["Bytes"] == 4 * (8 * 5 + 6 * 5 + 6 + 8 * 6)
    assert [table["fc1", way]["Flops"] for way in ("forward", "backward")] == [2 * 8 * 5 * 6, 4 * 8 * 5 * 6]
    assert fc1["GFLOP/s"] == pytest.approx(fc1["Flops"] * 3 / fc1["Total"] / 1e6)
    assert fc1["GB/s"] == pytest.approx(fc1["Bytes"] * 3 / fc1["Total"] / 1e6)
    assert table["act", "forward"]["GFLOP/s"] is None
    operators = report["Time"]["operator"]
    assert [operators[name]["Count"] for name in ("FullyConnected", "_backward_FullyConnected")] == [6, 6]
    assert sum(figures["Count"] for figures in report["Time"]["segment"].values()) == 6
    assert_threads_add_up(report)


@pytest.mark.usefixtures("each_engine")
def test_a_recorded_backward_pass_has_its_nodes_and_calls_are_rows_of_their_own() -> None:
    x = od.nd.ones((4, 4))
    x.attach_grad()
    profiler.start()
    with od.autograd.record():
        y = od.nd.dot(od.nd.dot(x, x), x)
    y.backward()
    od.waitall()
    report = found()
    table = rows(report)
    assert {("dot", "backward"), ("dot#2", "backward")} <= set(table)
    call = table["dot", None]
    assert (call["Count"], call["Name"], call["GFLOP/s"]) == (2, None, None)
    assert_threads_add_up(report)


@pytest.mark.usefixtures("each_engine")
def test_every_thread_has_shares_and_idle_time_of_its_own() -> None:
    executors = [network() for _ in range(3)]
    threads = [threading.Thread(target=train, args=(executor,)) for executor in executors]
    profiler.start()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    report = found()
    assert {row["Count"] for key, row in rows(report).items() if key[0] in ("fc1", "act")} == {3}
    assert_threads_add_up(report)


@pytest.mark.usefixtures("each_engine")
def test_a_monitor_sees_what_it_saw_and_the_nodes_are_counted() -> None:
    executor = network()
    seen: list[list[str]] = []
    for is_on in (False, True):
        seen.append([])
        executor.set_monitor_callback(lambda name, array: seen[-1].append(name))
        profiler.set_state("run" if is_on else "stop")
        train(executor)
    assert seen[0] == seen[1]
    table = rows(found())
    assert {table[name, "forward"]["Count"] for name in ("fc1", "act", "fc2", "softmax")} == {1}


@pytest.mark.usefixtures("each_engine")
def test_a_trace_has_the_nodes_inside_the_events_of_their_segments(trace: Path) -> None:
    executor = network()
    profiler.start()
    train(executor)
    profiler.dump()
    events = [event for event in json.loads(trace.read_text())["traceEvents"] if event["ph"] == "X"]
    nodes = [event for event in events if event["cat"] == "node"]
    segments = [event for event in events if ".." in event["name"]]
    assert {"fc1", "act", "fc2", "softmax"} <= {node["name"] for node in nodes}
    assert len(segments) == 2
    for node in nodes:
        around = [
            outer
            for outer in segments
            if outer["tid"] == node["tid"]
            and outer["ts"] <= node["ts"]
            and node["ts"] + node["dur"] <= outer["ts"] + outer["dur"] + 1e-3
        ]
        assert len(around) == 1
    (fc2,) = [node for node in nodes if node["name"] == "fc2" and node["args"]["pass"] == "forward"]
    assert fc2["args"] == {
        "operator": "FullyConnected", "pass": "forward", "kernel": "FullyConnected.forward",
        "device": "cpu(0)", "bytes": 4 * (8 * 6 + 4 * 6 + 4 + 8 * 4), "flops": 2 * 8 * 6 * 4,
    }  # fmt: skip
    assert not recording.node_runs


def test_the_text_has_the_table_of_names_and_that_of_nodes() -> None:
    executor = network()
    profiler.start()
    train(executor)
    profiler.stop()
    both, nodes = profiler.dumps(), profiler.dumps(format="nodes", reset=True)
    assert both.endswith(nodes)
    head, titles, *lines = nodes.splitlines()
    assert head.startswith("shares of ")
    assert titles.split()[:5] == ["node", "operator", "pass", "kernel", "calls"]
    (fc1,) = [line.split() for line in lines if line.split()[:3] == ["fc1", "FullyConnected", "forward"]]
    assert fc1[3:5] == ["FullyConnected.forward", "1"]
    assert [line.split("  ")[0] for line in lines[-2:]] == ["(in segments, outside nodes)", "(idle)"]
    assert not recording.node_runs


def test_rows_are_in_the_order_asked_for() -> None:
    executor = network()
    profiler.start()
    train(executor)
    train(executor)
    executor.forward()
    od.waitall()
    profiler.stop()
    for column in ("count", "total", "min", "max", "avg"):
        for ascending in (False, True):
            text = profiler.dumps(format="json", sort_by=column, ascending=ascending)
            values = [row[column.title()] for row in json.loads(text)["Nodes"]]
            assert values == sorted(values, reverse=not ascending)


def test_recording_ends_by_itself_where_a_limit_is_set() -> None:
    executor = network()
    profiler.set_config(max_events=20)
    profiler.start()
    for _ in range(10):
        train(executor)
    assert not recording.is_recording()
    times = found()["Time"]
    events = sum(figures["Count"] for names in times.values() for figures in names.values())
    assert 20 <= events < 20 + 10  # what comes at once is kept or left out at once
    assert "recording ended after max_events=20" in profiler.dumps(format="nodes", reset=True)
    profiler.start()
    train(executor)
    assert recording.is_recording()


def test_the_naive_engine_of_the_environment_is_profiled() -> None:
    program = (
        "import operad as od\n"
        "executor = od.sym.tanh(od.sym.var('x'), name='act').simple_bind(x=(3,))\n"
        "od.profiler.set_config(aggregate_stats=True)\n"
        "od.profiler.start()\n"
        "executor.forward(is_train=True)\n"
        "executor.backward(od.nd.ones((3,)))\n"
        "od.profiler.stop()\n"
        "print(od.profiler.dumps(format='nodes'))\n"
    )
    environment = {**os.environ, "OPERAD_ENGINE": "naive"}
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True, env=environment
    )
    passes = [line.split()[2] for line in done.stdout.splitlines() if line.startswith("act ")]
    assert sorted(passes) == ["backward", "forward"]


def test_results_are_the_same_with_and_without() -> None:
    results = []
    for state in ("stop", "run", "stop", "run"):
        profiler.set_state(state)
        executor = network()
        train(executor)
        results.append([executor.outputs[0].asnumpy(), *[grad.asnumpy() for grad in executor.grad_arrays]])
    for other in results[1:]:
        for array, expected in zip(other, results[0], strict=True):
            np.testing.assert_array_equal(array, expected)
