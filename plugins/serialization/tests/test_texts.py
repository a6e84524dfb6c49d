"""Texts in a symbol file are read, and never run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import operad as od
from operad.errors import OperadError


def symbol() -> Any:
    weight = od.sym.var(
        "weight", shape=(4, 3), init=od.initializer.One(), lr_mult=2.0, wd_mult=0.5, dtype="float32"
    )
    return od.sym.FullyConnected(od.sym.var("data"), weight=weight, num_hidden=4, name="fc")


def texts() -> list[tuple[int, str]]:
    nodes = json.loads(symbol().tojson())["nodes"]
    return [(number, key) for number, node in enumerate(nodes) for key in node.get("attrs", {})]


@pytest.mark.parametrize(
    "code", ["open({!r}, 'w')", "__import__('pathlib').Path({!r}).touch()", '["exec", {{}}]']
)
@pytest.mark.parametrize(("node", "key"), texts())
def test_a_text_is_never_run(node: int, key: str, code: str, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    tree = json.loads(symbol().tojson())
    tree["nodes"][node]["attrs"][key] = code.format(str(mark))
    with pytest.raises(OperadError):
        _use(json.dumps(tree))
    assert not mark.exists()


def _use(text: str) -> None:
    """All that a user does with a symbol: arrays, initial values, an optimizer's multipliers."""
    module = od.mod.Module(od.sym.load_json(text), label_names=[])
    module.bind([("data", (2, 3))])
    module.init_params()
    module.init_optimizer()
    od.nd.waitall()
    raise OperadError("nothing was refused")
