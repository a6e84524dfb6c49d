"""The operators that examples of checks make with what their docstrings put around them."""

from __future__ import annotations

from textwrap import indent
from typing import Final

from operad_check.register import Check

_BEFORE: Final = '''
import os

import numpy as np

import operad
import operad as od
from operad.operator import OpReq, Operator, assign
from operad.operator import OperatorProperty as CoreProperty
from operad_sdk import *
from operad_sdk import Contract, Distribution, ResourceRequest, from_mapper, gradient, mapper, tanh
from operad_sdk.domains import Index, Integers

class Made(Operator):
    def forward(self, op_ctx, arrays):
        assign(arrays.out_data[0], arrays.req[0], arrays.in_data[0] * arrays.in_data[0])
    def backward(self, op_ctx, arrays):
        value = 2 * arrays.out_grad[0] * arrays.in_data[0]
        assign(arrays.in_grad[0], arrays.req[0], value)

class LongForm(CoreProperty):
    """An example."""
    name = "checked_example"
    made = Made
    def infer_shape(self, in_shapes):
        return in_shapes, in_shapes, []
    def create_operator(self, ctx, in_shapes, in_types):
        return self.made()
'''
_HEAD: Final = '@operator("checked_example")\nclass Example(OperatorProperty):\n    """An example."""\n'


def source(check: Check) -> str:
    """The module of a check's example, in which the operator is called `Example`."""
    around = check.words["Within"]
    lines = []
    for line in around.splitlines():
        before, found, after = line.partition("HERE")
        if not found:
            lines.append(line)
            continue
        first, *rest = check.example.splitlines()
        margin = " " * (len(line) - len(line.lstrip()))
        lines += [before + first + after, *(margin + each for each in rest)]
    is_module = any(line.startswith(("class ", "Example ")) for line in around.splitlines())
    body = "\n".join(lines) + "\n"
    return _BEFORE + (body if is_module else _HEAD + indent(body, "    "))
