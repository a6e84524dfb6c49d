"""Symbols in words."""

from __future__ import annotations

import textwrap

import pytest

from operad import sym

pytestmark = pytest.mark.usefixtures("operators")


def test_debug_str_is_printed_as_mxnet_prints_it():
    net = sym.Dense(data=sym.var("data"), __color__="red", num_hidden=3, name="fc1")
    net.entries[0].node.control_deps.append(net.entries[0].node.inputs[1].node)
    assert net.debug_str() == textwrap.dedent("""\
        Symbol Outputs:
        \toutput[0]=fc1(0)
        Variable:data
        Variable:fc1_weight
        Variable:fc1_bias
        --------------------
        Op:Dense, Name=fc1
        Inputs:
        \targ[0]=data(0) version=0
        \targ[1]=fc1_weight(0) version=0
        \targ[2]=fc1_bias(0) version=0
        Attrs:
        \t__color__=red
        \tnum_hidden=3
        Control deps:
        \tcdep[0]=fc1_weight
    """)
    assert sym.var("x").debug_str() == "Variable:x\n"
