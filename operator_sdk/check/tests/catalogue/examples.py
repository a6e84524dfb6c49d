"""What stands around an example of the catalogue, so that it is an operator.

By the id of the check: source in which `EXAMPLE` is the example, indented like it. The operator is the last
class or function that the source calls `Example`.
"""

from __future__ import annotations

from textwrap import indent
from typing import Final

_IMPORTS: Final = """
import os

import numpy as np

import operad
import operad as od
from operad.operator import OpReq, Operator, assign
from operad.operator import OperatorProperty as CoreProperty
from operad_sdk import *
from operad_sdk import Contract, Distribution, ResourceRequest, from_mapper, gradient, mapper, tanh
from operad_sdk.domains import Index, Integers
"""


def _of_class(spec: str, body: str, declared: str = "") -> str:
    """A class of the toolkit with the example in it; `declared` stands before `body`."""
    lines = f'"""An example."""\nspec = "{spec}"\n{declared}\n{body}'
    return f'@operator("catalogue_example")\nclass Example(OperatorProperty):\n{indent(lines, "    ")}\n'


_LONG: Final = '''
class Made(Operator):
    def forward(self, op_ctx, in_data, req, out_data, aux):
        assign(out_data[0], req[0], in_data[0] * in_data[0])
    def backward(self, op_ctx, out_grad, in_data, out_data, req, in_grad, aux):
        value = 2 * out_grad[0] * in_data[0]
        assign(in_grad[0], req[0], value)
{example}

class Example(CoreProperty):
    """An example."""
    name = "catalogue_example"
    def infer_shape(self, in_shapes):
        return in_shapes, in_shapes, []
    def create_operator(self, ctx, in_shapes, in_types):
        return {made}()
'''

_ANY: Final = "data:(*S) -> output:(*S)"
_TWO: Final = "lhs:(*S), rhs:(*S) -> output:(*S)"
_ROWS: Final = "data:(N + 1, D + 1) -> output:(N + 1, D + 1)"
_COPY: Final = "def forward(data): return data * 1\n"
_SQUARE: Final = "def forward(data): return data * data\n"
_SLOPE: Final = "def data_grad(output_grad, data): return 2 * output_grad * data\n"
_BIASED: Final = (
    "def forward(data, bias): return data + bias\ndef data_grad(output_grad): return output_grad\n"
)
_FLOATS: Final = 'accepts = "floating"\n'
_NONE: Final = 'contract = Contract(no_numeric_gradient="an example")\n'

AROUND: Final[dict[str, str]] = {
    "S102": "EXAMPLE\n"
    "    name = 'catalogue_example'\n"
    "    def infer_shape(self, in_shapes): return in_shapes, in_shapes[:1], []\n"
    "    def create_operator(self, ctx, in_shapes, in_types): return Operator()\n"
    "Example = Scale\n",
    "S103": _of_class(_ANY, _COPY + "EXAMPLE", 'alpha = param(float, 1.0, doc="A number.")'),
    "S104": _of_class(_ANY, _COPY + "EXAMPLE", 'num_hidden = param(int, ge=1, doc="How many.")'),
    "S106": _of_class("data:(N, D + 2) -> output:(N)", "def forward(data): return data.sum(1)\nEXAMPLE"),
    "S107": _of_class(_ANY, _COPY + "EXAMPLE"),
    "S109": _of_class(_ANY, _SQUARE + _SLOPE + "EXAMPLE"),
    "S110": _of_class(_ANY, _COPY + "contract = EXAMPLE"),
    "F201": _of_class("", "EXAMPLE\ndef forward(lhs, rhs): return lhs + rhs"),
    "F202": "EXAMPLE\nExample = total\n",
    "F206": _of_class(
        "data:(N, D) -> output:(N, D)",
        _COPY + "def infer_shape(self, in_shapes):\n"
        "    if in_shapes[0] is not None and len(in_shapes[0]) != 2:\n"
        "        EXAMPLE\n"
        "    return super().infer_shape(in_shapes)",
    ),
    "F207": _of_class(_ROWS, "EXAMPLE", _FLOATS),
    "F208": _of_class("data:(N + 1) -> output:(N + 1)", "EXAMPLE"),
    "F209": _of_class(_ANY, "EXAMPLE", _FLOATS),
    "F210": _of_class("data:(N, D) -> output:(N, D)", "EXAMPLE", _FLOATS),
    "F212": _of_class(_ANY, "EXAMPLE", _FLOATS),
    "F213": _of_class(
        "data:(N + 2, D) -> output:(D)",
        "def forward(data): return data.sum(0) / (len(data) - 1)\ncontract = EXAMPLE",
        _FLOATS,
    ),
    "F214": _LONG.format(example="class Late(Made):\n    EXAMPLE", made="Late"),
    "F215": _LONG.format(
        example="EXAMPLE\n"
        "    def forward(self, op_ctx, in_data, req, out_data, aux):\n"
        "        assign(out_data[0], req[0], in_data[0] - in_data[0]**3 / 3)\n",
        made="Fast",
    ),
    "F216": _of_class(
        "data:(N + 1, C); aux moving_mean:(C) -> output:(N + 1, C)",
        "def forward(data, moving_mean, output):\n"
        "    mean, momentum = data.mean(0), 0.75\n"
        "    output[...] = data - mean\n"
        "    EXAMPLE",
        _FLOATS,
    ),
    "F217": _of_class(_ANY, _COPY + "EXAMPLE"),
    "F218": _of_class(
        _ANY,
        "def forward(op_ctx, data):\n"
        "    generator, shape, p = op_ctx.requested[0].generator, data.shape, 0.25\n"
        "    EXAMPLE\n"
        "    return mask.astype(data.dtype)",
        "resource = ResourceRequest.RANDOM\n"
        "contract = Contract(distribution=Distribution(mean=lambda p: 0.75, variance=lambda p: 3 / 16))\n",
    ),
    "F219": _of_class(_ANY, "def forward(data): return np.abs(data)\nEXAMPLE", _FLOATS),
    "F220": _of_class(
        _TWO, "def forward(lhs): return lhs\nEXAMPLE\n    return super().infer_shape(in_shapes)"
    ),
    "F221": _of_class(_ROWS, "def forward(data): return data - data.mean(0)\ncontract = EXAMPLE", _FLOATS),
    "B301": '@unary("catalogue_example", accepts="floating")\n'
    "def square(data): return data * data\n"
    "EXAMPLE\nExample = square\n",
    "B302": _of_class(
        "data:(N, D), bias:(D) -> output:(N, D)",
        _BIASED + "EXAMPLE",
        _FLOATS,
    ),
    "B303": _of_class(
        "data:(*S), slope:(*S) -> output:(*S)",
        "def forward(data, slope): return data * slope\n"
        "def slope_grad(output_grad, data): return output_grad * data\nEXAMPLE",
        _FLOATS,
    ),
    "B304": _of_class(_ANY, _SQUARE + _SLOPE + "contract = EXAMPLE", _FLOATS),
    "B305": _LONG.replace("        assign(in_grad[0], req[0], value)", "        EXAMPLE").format(
        example="", made="Made"
    ),
    "B306": _of_class(
        "data:(N, D), bias:(D) -> output:(N, D)",
        _BIASED + "EXAMPLE",
        _FLOATS,
    ),
    "B307": _of_class(
        "data:(N + 1, D), rows:any(M) -> output:(M, D)",
        "def forward(data, rows): return data[rows]\nEXAMPLE",
        'accepts = {"data": "floating", "rows": "integer"}\n'
        'contract = Contract(inputs={"rows": Index("data")})\n',
    ),
    "B308": _of_class(
        "data:(*S), scale:(*S) -> output:(*S)",
        "EXAMPLE\ndef data_grad(output_grad, scale): return output_grad * scale",
        _FLOATS,
    ),
    "B309": _of_class(_ANY, "def forward(data): return data * data / 2\nEXAMPLE", _FLOATS),
    "B310": _of_class(
        _ANY,
        "EXAMPLE\n    return data * self.mask\n"
        "def data_grad(self, output_grad): return output_grad * self.mask",
        _FLOATS,
    ),
    "B311": _of_class(_ANY, _COPY + "EXAMPLE", _FLOATS),
    "B313": _of_class(_ANY, "def forward(data): return np.maximum(data, 0)\nEXAMPLE", _FLOATS),
    "M401": _LONG.format(example="", made="Made") + "    EXAMPLE\n",
    "M402": '@unary("catalogue_example", accepts="floating")\n'
    "def tanh(data): return np.tanh(data)\n"
    "EXAMPLE\nExample = tanh\n",
    "M404": _of_class(_TWO, "def forward(lhs, rhs): return lhs * rhs\nEXAMPLE", _FLOATS),
    "M407": _of_class(_ANY, "EXAMPLE", _FLOATS),
    "M408": _of_class(
        _ANY,
        "def forward(op_ctx, data):\n    shape, dtype = data.shape, data.dtype\n"
        "    EXAMPLE\n    return scratch",
        "resource = ResourceRequest.TEMP_SPACE\n" + _FLOATS,
    ),
    "M409": _of_class(_TWO, "EXAMPLE", _FLOATS),
    "M410": _of_class("data:(N + 1) -> output:(N + 1)", "EXAMPLE", _FLOATS),
    "S112": _of_class(
        "data:(N, D) -> output:(N, D)",
        "EXAMPLE\n    return np.roll(data, (top, left), (0, 1))",
        'offset = param("indices", (0, 0), doc="How far.")\n' + _FLOATS,
    ),
    "S113": _of_class(
        _ANY,
        "EXAMPLE\n"
        "    return super().infer_shape(in_shapes)\n"
        "def forward(data, axis): return np.flip(data, axis)",
        'axis = param(int, 0, doc="Which axis.")\n' + _FLOATS,
    ),
    "F222": _of_class(
        "index:any(N), table:(V + 1) -> output:(N)",
        "def forward(index, table):\n    EXAMPLE\n    return table[index.astype(int) % len(table)]",
        'contract = Contract(inputs={"index": Index("table")})',
    ),
    "F223": _of_class(_ANY, "EXAMPLE\ndef forward(data): return data * 1", _FLOATS),
    "M411": _of_class(
        _ANY, "def forward(self, data):\n    EXAMPLE\n    return np.tanh(data)", "results = {}\n" + _FLOATS
    ),
    "R501": _of_class(
        _ROWS,
        "EXAMPLE\n    return super().infer_shape(in_shapes)\n"
        "def forward(self, data): return data / self.rows",
        _FLOATS,
    ),
    "R507": _of_class(_ANY, "EXAMPLE", _FLOATS),
    "R508": _of_class(_ANY, "EXAMPLE\n    return data * 1", "seen = []\n" + _FLOATS),
    "R510": _of_class(
        _ANY,
        "EXAMPLE\ndef forward(self, data): return data * self.factor",
        'temperature = param(float, 1.0, gt=0, run_time=True, doc="What the data is divided by.")\n'
        + _FLOATS,
    ),
    "R509": _of_class(
        _ANY,
        'def forward(data):\n    values, total = {"mean": 1, "scale": 2, "shift": 5}, 0\n'
        "    EXAMPLE\n    return data * total",
        _FLOATS,
    ),
    "D601": "def my_erf(data):\n"
    "    if data.dtype.kind != 'f':\n"
    "        raise TypeError(data.dtype)\n"
    "    return np.tanh(data)\n"
    "EXAMPLE\nExample = erf\n",
    "D602": _of_class(
        "data:(N + 2) -> output:(1)",
        "def forward(data):\n    EXAMPLE\n    return np.full(1, variance, data.dtype)",
        _FLOATS,
    ),
    "D604": _of_class(_ANY, "EXAMPLE", _FLOATS),
    "D606": _of_class(
        _ANY, "def forward(data, sigma): return data / sigma", 'sigma = param(float, 2.0, ge=1, doc="Width.")'
    )
    + "smooth = Example\nEXAMPLE\n",
    "D607": _of_class(_ANY, "EXAMPLE"),
    "D608": _of_class(_TWO, "EXAMPLE", 'accepts = "integer"\n'),
    "D609": _of_class(_ANY, "EXAMPLE\ndef forward(data, output): np.copyto(output, data)"),
    "A701": 'EXAMPLE\nExample = from_mapper(leaky, name="catalogue_example")\n',
    "X802": _of_class(_ANY, _COPY + "contract = EXAMPLE"),
    "X803": _of_class(_ANY, _SQUARE + _SLOPE + "contract = EXAMPLE", _FLOATS),
    "X804": '@unary("catalogue_example", accepts="floating")\n'
    "def rounded(data): return np.rint(data)\n"
    "EXAMPLE\nExample = rounded\n",
    "X805": _of_class(_ANY, _SQUARE + _SLOPE, _FLOATS) + "smooth = Example\nEXAMPLE\n",
}
"""The examples that are run."""

FRAGMENTS: Final[dict[str, str]] = {
    "B312": "a traced gradient beside its own",
    "S101": "an entry point",
    "S105": "refused where it is declared",
    "S108": "a docstring of an operator that is installed",
    "S111": "a docstring",
    "F203": "the rest of an inference decides",
    "F204": "the rest of an inference decides",
    "F205": "the rest of an inference decides",
    "F211": "native code",
    "M403": "a class without its spec line",
    "M405": "native code",
    "M406": "what is done with the two decides",
    "R502": "a module of its own",
    "R503": "the other order of the sums",
    "R504": "which function raises",
    "R506": "it ends the process",
    "D603": "a sigmoid of another module",
    "D605": "it takes a GPU",
    "A702": "a branch of a mapper",
    "A703": "two mappers of another module",
    "A704": "a mapper of another module",
    "X801": "labels of another module",
    "X806": "a check that breaks",
}
"""The others, and what is missing."""


def source(id: str, example: str) -> str:
    """The module of an example."""
    lines = []
    for line in AROUND[id].splitlines():
        before, found, after = line.partition("EXAMPLE")
        if not found:
            lines.append(line)
            continue
        first, *rest = example.splitlines()
        margin = " " * (len(line) - len(line.lstrip()))
        lines += [before + first + after, *(margin + each for each in rest)]
    return _IMPORTS + "\n".join(lines) + "\n"
