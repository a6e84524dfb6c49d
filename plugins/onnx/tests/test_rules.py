"""Rules that other packages bring, by entry point."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import numpy as np
import onnx
import operad.onnx
import pytest
from onnx import helper
from onnx.reference import ReferenceEvaluator

import operad as od
from operad import registry
from operad.errors import DuplicateOperatorError, UnsupportedError
from operad_onnx.coverage import written
from operad_onnx.rules import rules
from plugins.onnx.tests.networks import evaluated
from plugins.onnx.tests.test_load import model_of

OPERATOR = '''
from operad_sdk import UNARY, Contract, OperatorProperty, operator

@operator("acme_double")
class acme_double(OperatorProperty):
    """Twice the data."""
    spec = UNARY
    contract = Contract(reference=lambda data: data * 2)
    def forward(data, output):
        output[...] = data * 2
    def data_grad(output_grad, data_grad):
        data_grad[...] = output_grad * 2
'''
RULES = """
EXPORTS = {"acme_double": lambda node: node.add("Add", node.inputs[0], node.inputs[0])}
IMPORTS = {"com.acme::Twice": "acme_double"}
ABSENT = {"acme_other": "nothing doubles so"}
"""


def install(folder: Path, name: str, entry_points: str, **modules: str) -> None:
    """Write a package as pip leaves it."""
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(entry_points)
    for module, text in modules.items():
        (folder / f"{module}.py").write_text(text)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield tmp_path
    for module in [name for name in sys.modules if name.startswith("acme_")]:
        del sys.modules[module]
    monkeypatch.undo()
    metadata.MetadataPathFinder().invalidate_caches()
    registry.refresh()


ENTRIES = "[operad.operators]\nacme_double = acme_ops:acme_double\n[operad.onnx]\nacme = acme_rules\n"


def test_a_package_brings_rules_for_its_own_operators(folder: Path) -> None:
    install(folder, "acme", ENTRIES, acme_ops=OPERATOR, acme_rules=RULES)
    registry.refresh()
    symbol = od.sym.acme_double(od.sym.var("x"), name="twice")
    model = od.onnx.export(symbol, {}, {"x": ("N", 2)})
    array = np.array([[1, -2]], np.float32)
    assert ReferenceEvaluator(model).run(None, {"x": array})[0].tolist() == [[2, -4]]
    read = model_of(helper.make_node("Twice", ["x"], ["y"], domain="com.acme"), x=(1, 2))
    read.opset_import.add(domain="com.acme", version=1)
    assert evaluated(od.onnx.load(read).symbol, {}, {"x": array})[0].tolist() == [[2, -4]]


def test_an_operator_without_a_rule_is_written_by_its_steps(folder: Path) -> None:
    install(folder, "acme", ENTRIES.partition("[operad.onnx]")[0], acme_ops=OPERATOR)
    registry.refresh()
    model = od.onnx.export(od.sym.acme_double(od.sym.var("x"), name="n"), {}, {"x": ("N",)})
    assert [node.op_type for node in model.graph.node] == ["Mul"]
    assert ReferenceEvaluator(model).run(None, {"x": np.array([1, -2], "f")})[0].tolist() == [2, -4]


@pytest.mark.more
def test_an_operator_without_rule_and_function_names_its_package(folder: Path) -> None:
    text = OPERATOR.replace("output[...] = data * 2", "output[...] = np.cumprod(data)")
    install(folder, "acme", ENTRIES.partition("[operad.onnx]")[0], acme_ops="import numpy as np\n" + text)
    registry.refresh()
    with pytest.raises(UnsupportedError, match=r"node 'n' \(acme_double\).*cumprod.*acme_ops.*of acme 1.0"):
        od.onnx.export(od.sym.acme_double(od.sym.var("x"), name="n"), {}, {"x": (2,)})


@pytest.mark.more
def test_two_packages_with_one_rule_are_refused(folder: Path) -> None:
    install(folder, "acme", ENTRIES, acme_ops=OPERATOR, acme_rules=RULES)
    install(folder, "other", "[operad.onnx]\nother = acme_rules\n")
    registry.refresh()
    with pytest.raises(DuplicateOperatorError, match=r"'acme_double' is provided by acme 1.0 and other 1.0"):
        rules()


@pytest.mark.more
def test_a_module_without_tables_is_left_out_with_a_warning(folder: Path) -> None:
    install(folder, "acme", "[operad.onnx]\nacme = acme_rules\n", acme_rules="X = 1\n")
    registry.refresh()
    with pytest.warns(RuntimeWarning, match="a module with one of the tables EXPORTS, IMPORTS, ABSENT"):
        assert "Relu" in rules().imports


@pytest.mark.more
def test_rules_are_of_operators_that_are_there_and_none_is_forgotten() -> None:
    known = {registry.get(name).name for name, record in registry.operators().items() if not record.is_alias}
    found = rules()
    assert {*found.exports, *found.absent} <= known
    ours = {
        registry.get(r.name).name
        for r in registry.operators().values()
        if r.distribution.startswith("operad-")
    }
    assert not ours - {row.operator for row in written()} - {*found.absent}
    assert not {*found.exports} & {*found.absent}


def test_rules_for_reading_are_of_operators_of_the_standard() -> None:
    names = [name.rpartition("::") for name in rules().imports]
    assert all(onnx.defs.has(kind, domain) or kind == "Upsample" for domain, _, kind in names)
