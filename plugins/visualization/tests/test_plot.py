"""Pictures of networks: DOT, and SVG without Graphviz."""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ET
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import operad as od
from operad.errors import ArgumentError, UnsupportedError
from operad.graph import CompositeReport
from operad_visualization.layout import arranged

SVG = "{http://www.w3.org/2000/svg}"


def branched() -> Any:
    data = od.sym.var("data")
    conv = od.sym.Convolution(data, kernel=(3, 3), pad=(1, 1), num_filter=8, name="conv1")
    relu = od.sym.Activation(conv, act_type="relu", name="relu1")
    both = od.sym.elemwise_add(relu, conv, name="plus")
    pool = od.sym.Pooling(both, kernel=(2, 2), stride=(2, 2), pool_type="max", name="pool")
    return od.sym.SoftmaxOutput(od.sym.FullyConnected(pool, num_hidden=10, name="fc1"), name="softmax")


def tips(svg: str) -> list[str]:
    """The first line of what each node says under the pointer."""
    root = ET.fromstring(svg)
    marks = [*root.iter(f"{SVG}rect"), *root.iter(f"{SVG}ellipse")]
    return [str(mark[0].text).splitlines()[0] for mark in marks]


def test_the_text_has_mxnets_nodes_labels_colours_and_edges() -> None:
    """As MXNet 1.9.1 made once, without its quoting."""
    lines = od.viz.plot_network(branched(), shape={"data": (2, 3, 8, 8)}).source.splitlines()
    assert lines[0] == 'digraph "plot" {'
    look = 'fillcolor="#fb8072" fixedsize="true" height="0.8034" label="Convolution\\n3x3/1, 8" shape="box"'
    assert lines[2] == f'\t"conv1" [{look} style="filled" width="1.3"]'
    assert 'label="Pooling\\nmax, 2x2/2x2"' in lines[5]
    edges = [line.strip() for line in lines if "->" in line]
    assert edges[0] == '"conv1" -> "data" [arrowtail="open" dir="back" label="3x8x8"]'
    assert edges[2:4] == [
        '"plus" -> "relu1" [arrowtail="open" dir="back" label="8x8x8"]',
        '"plus" -> "conv1" [arrowtail="open" dir="back" label="8x8x8"]',
    ]
    assert '"softmax" -> "softmax_label"' in edges[-1]


def test_weights_are_hidden_unless_wanted() -> None:
    hidden, shown = (od.viz.plot_network(branched(), hide_weights=hide).source for hide in (True, False))
    assert "conv1_weight" not in hidden
    assert '"conv1" -> "conv1_weight"' in shown


def test_types_and_attributes_of_nodes_can_be_chosen() -> None:
    text = od.viz.plot_network(
        branched(), shape={"data": (2, 3, 8, 8)}, dtype={"data": np.float16}, node_attrs={"shape": "oval"}
    ).source
    assert 'label="3x8x8(float16)"' in text
    assert 'shape="box"' not in text
    with pytest.raises(ArgumentError, match="expected Graphviz's names"):
        od.viz.plot_network(branched(), node_attrs={"a b": "c"})


def test_a_variable_and_an_operator_of_one_name_stay_two_nodes() -> None:
    text = od.viz.plot_network(od.sym.tanh(od.sym.var("x"), name="x")).source
    assert '"x" -> "x (input)"' in text


def test_the_picture_has_every_node_once() -> None:
    names = ["Convolution conv1", "Activation relu1", "elemwise_add plus", "Pooling pool"]
    names += ["FullyConnected fc1", "SoftmaxOutput softmax", "variable data", "variable softmax_label"]
    assert tips(od.viz.plot_network(branched())._repr_svg_()) == names


def test_names_are_escaped() -> None:
    net = od.sym.tanh(od.sym.var('a<b&"c"'), name="'<t>'")
    plot = od.viz.plot_network(net, title="<&>")
    assert tips(plot._repr_svg_()) == ["tanh '<t>'", 'variable a<b&"c"']
    assert '"a<b&\\"c\\""' in plot.source


def test_a_picture_loads_nothing_from_elsewhere() -> None:
    text = od.viz.plot_network(branched())._repr_svg_().replace("http://www.w3.org/2000/svg", "")
    for word in ("href", "src=", "url(", "//", "@import", "<script"):
        assert word not in text


def test_svg_is_written_without_graphviz(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "graphviz", None)
    plot = od.viz.plot_network(branched(), save_format="svg")
    assert plot.render(tmp_path / "net") == str(tmp_path / "net.svg")
    assert (tmp_path / "net.svg").read_text() == plot._repr_svg_()
    assert Path(plot.save(tmp_path / "net.gv")).read_text() == str(plot) == plot.source
    with pytest.raises(UnsupportedError, match=r"pip install 'operad-visualization\[graphviz\]'"):
        plot.render(tmp_path / "net", format="pdf")
    assert not (tmp_path / "net.pdf").exists()


def test_other_formats_are_graphvizs(monkeypatch: pytest.MonkeyPatch) -> None:
    class Source:
        def __init__(self, text: str) -> None:
            self.text = text

        def pipe(self, format: str) -> bytes:
            return f"{format}: {self.text}".encode()

    monkeypatch.setitem(sys.modules, "graphviz", type("graphviz", (), {"Source": Source}))
    plot = od.viz.plot_network(branched())
    assert plot.pipe().decode() == f"pdf: {plot.source}"


def test_nodes_stand_after_their_inputs_and_clear_of_each_other() -> None:
    random = np.random.RandomState(0)
    for _ in range(20):
        count = int(random.randint(1, 30))
        edges = [(int(random.randint(t)), t) for t in range(1, count) for _ in range(random.randint(3))]
        layout = arranged(count, edges)
        for (source, target), path in zip(edges, layout.edges, strict=True):
            assert (path[0], path[-1]) == (layout.nodes[source], layout.nodes[target])
            assert [layer for _, layer in path] == list(range(path[0][1], path[-1][1] + 1))
        for layer in range(layout.height):
            row = sorted(place for place, own in layout.nodes if own == layer)
            assert all(b - a > 1 - 1e-9 for a, b in pairwise(row))
        assert min(place for place, _ in layout.nodes) >= 0


def test_an_edge_over_very_many_layers_is_a_straight_line() -> None:
    chain = [(number, number + 1) for number in range(60)]
    *_, over_all, over_few = arranged(61, [*chain, (0, 60), (0, 20)]).edges
    assert (len(over_all), len(over_few)) == (2, 21)


def test_a_chain_is_straight_and_branches_lie_beside_it() -> None:
    layout = arranged(4, [(0, 1), (1, 2), (2, 3)])
    assert {place for place, _ in layout.nodes} == {0}
    assert [layer for _, layer in layout.nodes] == [0, 1, 2, 3]
    branched = arranged(4, [(0, 1), (0, 2), (1, 3), (2, 3)])
    (top, left, right, end) = (place for place, _ in branched.nodes)
    assert top == end == (left + right) / 2


def test_nodes_that_run_as_one_kernel_stand_in_a_box(monkeypatch: Any) -> None:
    net = branched()
    executor = net.simple_bind(data=(2, 3, 8, 8))
    cluster = CompositeReport(["relu1", "plus"], 0, 0.0, {})
    backward = CompositeReport(["plus_backward", "relu1_backward"], 0, 0.0, {})
    why = SimpleNamespace(composites={"relu1+plus": cluster, "plus_backward+relu1_backward": backward})
    monkeypatch.setattr(type(executor), "why", lambda _: why)
    plot = od.viz.plot_network(net, executor=executor)
    assert '\tsubgraph cluster_0 { label="relu1+plus" style=dashed "relu1" "plus" }' in plot.source
    assert "relu1+plus" in tips(plot.pipe("svg").decode())
    with pytest.raises(ArgumentError, match="executor is int, expected an Executor"):
        od.viz.plot_network(net, executor=3)  # type: ignore[arg-type]
