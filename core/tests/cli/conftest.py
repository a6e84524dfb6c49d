"""The command `operad` over plugins that only these tests know, as pip would leave them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import msgspec  # noqa: F401 - found now, because site-packages is hidden below
import packaging.requirements  # noqa: F401 - as above
import pytest
import threadpoolctl  # noqa: F401 - as above
from click.testing import CliRunner, Result

from core.tests.registry.conftest import Site
from operad import registry
from operad.cli import main
from operad.cli.doctor import trial

OPERATORS = '''
"""Operators with something to describe."""

import numpy as np

from operad.op import Kernel, OperatorProperty, Operator, param
from operad.resource import ResourceRequest


class Add(Operator):
    def forward(self, op_ctx, arrays):
        np.add(arrays.in_data[0], arrays.in_data[1], out=arrays.out_data[0])


def only_matrices(call):
    return len(call.in_shapes[0]) == 2 or f"wants two axes, got {len(call.in_shapes[0])}"


class Dense(OperatorProperty):
    """A documented operator."""

    units = param(int, ge=1, doc="Rows of the weight.")
    mode = param(str, "fast", choices=("fast", "exact"), doc="How it is computed.")
    no_bias = param(bool, False, doc="Leave the bias out.")
    axes = param("shape", None, doc="Axes.")
    spec = "data:(N, D), weight:(units, D) -> output:(N, units)"
    kernels = [
        Kernel("Dense.plain", Add),
        Kernel("Dense.matrix", Add, "cpu", 10, only_matrices),
        Kernel("Dense.device", Add, "gpu", 20),
    ]

    def list_arguments(self):
        return ["data", "weight"] if self.no_bias else ["data", "weight", "bias"]

    def list_outputs(self):
        return ["output", "mask"]

    num_visible_outputs = 1

    def list_auxiliary_states(self):
        return ["mean"]

    def infer_shape(self, in_shapes):
        data = in_shapes[0]
        if data is None or len(data) < 1 or None in data:
            return list(in_shapes), [None, None], [None]
        weight = (self.units, data[-1])
        shapes = [data, weight] if self.no_bias else [data, weight, (self.units,)]
        return shapes, [(data[0], self.units)] * 2, [(self.units,)]

    def declare_backward_dependency(self, out_grad, in_data, out_data):
        return [out_grad[0], in_data[0], out_data[1]]

    def forward_resource(self, in_shapes):
        return [ResourceRequest.RANDOM]

    def forward_inplace_option(self, in_data, out_data):
        return [(in_data[0], out_data[0])]

    def backward_inplace_option(self, out_grad, in_data, out_data, in_grad):
        return [(out_grad[0], in_grad[0])]


class double(OperatorProperty):
    """Twice its argument."""

    factor = param(float, 1.0)
    kernels = [Kernel("double.array", Add)]

    def infer_shape(self, in_shapes):
        return list(in_shapes), list(in_shapes), []

    def declare_backward_dependency(self, out_grad, in_data, out_data):
        return [out_grad[0]]

    def forward_inplace_option(self, in_data, out_data):
        return [(in_data[0], out_data[0])]


class Many(OperatorProperty):
    num_args = param(int, ge=1)
    dim = param(int, 1)
    key_var_num_args = "num_args"

    def list_arguments(self):
        return [f"arg{i}" for i in range(self.num_args)]

    def list_outputs(self):
        return ["first", "second"]

    def infer_shape(self, in_shapes):
        return list(in_shapes), [in_shapes[0]] * 2, []
'''


@pytest.fixture(autouse=True)
def untried(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second process, in which the doctor tries plugins, does not see those that only these tests know."""
    monkeypatch.setattr(trial, "failed_plugins", list)


@pytest.fixture
def acme(site: Site) -> Site:
    """One plugin that works."""
    site.install(
        "acme-ops",
        "1.5",
        operators={
            "Dense": "acme_ops:Dense",
            "dense": "acme_ops:Dense",
            "double": "acme_ops:double",
            "Many": "acme_ops:Many",
        },
        modules={"acme_ops": OPERATORS},
    )
    registry.refresh()
    return site


@pytest.fixture
def run() -> Callable[..., Result]:
    """Runs `operad` in this process."""
    return lambda *words: CliRunner().invoke(main, list(words))


@pytest.fixture
def run_json(run: Callable[..., Result]) -> Callable[..., Any]:
    """Runs `operad ... --json`, and reads what it printed on standard output."""
    return lambda *words: json.loads(run(*words, "--json").stdout)


COMMANDS = '''
"""Commands of a plugin."""
import click

@click.command()
@click.option("--fail", is_flag=True)
@click.option("--loud", "tone", flag_value="loud")
@click.option("--quiet", "tone", flag_value="quiet")
def greet(fail, tone):
    """Say hello.

    And nothing else.
    """
    if fail:
        from operad.errors import ShapeError
        raise ShapeError("axis 3 is 4, expected 5")
    click.echo("hello")

not_a_command = 3
'''


@pytest.fixture
def commands(site: Site) -> Site:
    """Plugins with commands: one that works, and every way not to."""
    site.install("good", commands={"greet": "good_commands:greet"}, modules={"good_commands": COMMANDS})
    site.install(
        "bad",
        commands={
            "gone": "bad_nowhere:gone",
            "unnamed": "good_commands:unnamed",
            "number": "good_commands:not_a_command",
            "typo": "bad_typo:typo",
            "fails": "bad_import:fails",
        },
        modules={
            "bad_typo": "def typo(:\n",
            "bad_import": "import no_such_library\ndef fails():\n    pass\n",
        },
    )
    registry.refresh()
    return site
