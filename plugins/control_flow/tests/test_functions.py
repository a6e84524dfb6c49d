"""The functions are where MXNet has them, and operators over graphs are not called without."""

from __future__ import annotations

import pytest

import operad as od
from operad.errors import ParamError

NAMES = ("foreach", "while_loop", "cond")


@pytest.mark.parametrize("name", NAMES)
def test_functions_are_names_of_contrib_for_symbols_and_for_arrays(name):
    for face in (od.sym, od.nd):
        assert callable(getattr(face.contrib, name))
        assert name in dir(face.contrib)
        assert not {name, f"contrib.{name}"} & set(dir(face))


@pytest.mark.parametrize("name", NAMES)
def test_an_operator_without_its_graphs_says_what_makes_it(name):
    with pytest.raises(ParamError, match=f"got 0 subgraphs.*sym.contrib.{name} makes such operators"):
        getattr(od.sym, f"_{name}")(od.sym.var("x"), num_args=2, num_outputs=1, **PARAMS[name])


PARAMS = {
    "foreach": {"num_out_data": 1, "in_data_locs": (0,), "in_state_locs": ()},
    "while_loop": {
        "num_out_data": 0, "max_iterations": 1, "cond_input_locs": (0,), "func_input_locs": (0,),
        "func_var_locs": (0,),
    },
    "cond": {"cond_input_locs": (0,), "then_input_locs": (), "else_input_locs": ()},
}  # fmt: skip
