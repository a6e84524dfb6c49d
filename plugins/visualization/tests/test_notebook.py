"""What notebooks ask arrays, symbols and executors for."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from typing import Any

import numpy as np
import pytest

import operad as od

SVG = "{http://www.w3.org/2000/svg}"


def cells(html: str) -> list[str]:
    return re.findall("<td>(.*?)</td>", html)


def test_a_small_array_is_shown_whole() -> None:
    html = od.nd.array([[1, 2.5], [3, -4]])._repr_html_()
    assert "NDArray 2 x 2, float32, cpu(0)" in html
    assert cells(html) == ["1", "2.5", "3", "-4"]
    assert cells(od.nd.array(7)._repr_html_()) == ["7"]
    assert "no elements" in od.nd.ones((0, 3, 2))._repr_html_()


def test_a_large_array_is_cut() -> None:
    html = od.nd.arange(1000).reshape(10, 100)._repr_html_()
    assert cells(html)[:9] == ["0", "1", "2", "3", "4", "5", "6", "7", "…"]
    assert len(cells(html)) == 9 * 9
    assert "[0, 0] of the first axes" in od.nd.ones((2, 2, 9, 9))._repr_html_()
    assert cells(od.nd.arange(9)._repr_html_())[-1] == "…"


def test_a_failed_array_says_what_failed() -> None:
    class Failing(od.operator.CustomOp):
        def forward(self, is_train: bool, req: Any, in_data: Any, out_data: Any, aux: Any) -> None:
            raise ValueError("out of <ink>")

    @od.operator.register("viz_failing")
    class FailingProp(od.operator.CustomOpProp):
        def create_operator(self, ctx: Any, in_shapes: Any, in_dtypes: Any) -> Failing:
            return Failing()

    html = od.nd.Custom(od.nd.ones((2,)), op_type="viz_failing")._repr_html_()
    assert "it has no value: " in html
    assert "out of &lt;ink&gt;" in html


def test_showing_an_array_is_not_recorded() -> None:
    x = od.nd.array([1.0, 2.0])
    x.attach_grad()
    with od.autograd.record():
        y = x * x
        y._repr_html_()
    y.backward()
    np.testing.assert_array_equal(x.grad.asnumpy(), [2, 4])


def test_a_symbol_is_its_graph_unless_that_is_huge() -> None:
    net = od.sym.tanh(od.sym.var("x"))
    assert net._repr_svg_().startswith("<svg ")
    for _ in range(500):
        net = od.sym.tanh(net)
    assert net._repr_svg_() is None


def test_an_executor_is_its_memory_plan() -> None:
    net = od.sym.var("x")
    for _ in range(6):
        net = od.sym.tanh(od.sym.FullyConnected(net, num_hidden=32))
    executor = net.simple_bind(od.cpu(), x=(16, 32))
    root = ET.fromstring(executor._repr_svg_())
    plan = executor.memory_plan
    assert plan._repr_svg_() == executor._repr_svg_()
    bars = [mark for mark in root.iter(f"{SVG}rect") if not str(mark[0].text).startswith("block")]
    assert len(bars) == len(plan.placement)
    left, width = 70.0, 720.0
    for bar, entry in zip(bars, plan.placement, strict=True):
        first, last = plan.lifetime(entry)
        begin, length = float(bar.attrib["x"]), float(bar.attrib["width"])
        assert begin == pytest.approx(left + first * width / len(plan.schedule), rel=1e-4)
        assert begin + length <= left + width + 1e-3
        assert f"steps {first} to {last}" in str(bar[0].text)
    assert f"{plan.planned_bytes / 1024:.4g} KiB planned" in str(root[0].text)


@pytest.mark.parametrize("method", ["_repr_png_", "_ipython_canary_method_should_not_exist_"])
def test_other_forms_are_not_claimed(method: str) -> None:
    for shown in (od.nd.ones((1,)), od.sym.var("x")):
        assert not hasattr(shown, method)


def test_an_executor_shows_its_arrays_above_the_picture() -> None:
    executor = od.sym.tanh(od.sym.var("<x>"), name="y").simple_bind(od.cpu(), **{"<x>": (2, 3)})
    html = executor._repr_html_()
    assert "<tr><th>argument &lt;x&gt;</th><td>(2, 3) float32, cpu(0)</td></tr>" in html
    assert "<th>output y_output</th>" in html
    assert html.endswith(executor.memory_plan._repr_html_())
    assert executor.memory_plan._repr_html_().endswith(executor._repr_svg_())
