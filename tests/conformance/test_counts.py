"""A number in a call or file never makes an installed operator list tensors without bound."""

from __future__ import annotations

import pytest

import operad as od
from operad import registry
from operad.cli.samples import sample_property
from operad.errors import OperadError, ParamError
from operad.operator import MOST_TENSORS

LARGE = 1_000_000
"""Above the bound, and small enough that an operator without one fails here instead of the machine."""


def most_tensors(op, key):
    """Number of tensors that `op` lists with a large parameter `key`; 0 if that is refused."""
    sample = {name: getattr(sample_property(op, {}), name) for name in op.params}
    value = sample[key]
    large = (LARGE,) * max(len(value), 1) if isinstance(value, tuple) else LARGE
    try:
        prop = op(**{**sample, key: large})
        lists = [prop.list_arguments(), prop.list_outputs(), prop.list_auxiliary_states()]
    except OperadError:
        return 0
    return sum(map(len, lists))


def test_no_parameter_of_an_installed_operator_asks_for_tensors_without_bound():
    operators = [registry.get(name) for name in registry.list_operators(aliases=False)]
    # Those with graphs compare their counts with the graphs.
    alone = [op for op in operators if not op.num_subgraphs]
    found = {(op.name, key): most_tensors(op, key) for op in alone for key in op.params.integers}
    assert len(found) > 50
    assert [place for place, number in found.items() if number > MOST_TENSORS] == []


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("Concat", "num_args"), ("stack", "num_args"), ("add_n", "num_args"), ("khatri_rao", "num_args"),
        ("UpSampling", "num_args"), ("SliceChannel", "num_outputs"), ("_split_v2", "sections"),
    ],
)  # fmt: skip
def test_calls_of_both_faces_refuse_a_count_and_name_it(name, key):
    required = {"UpSampling": {"scale": 2, "sample_type": "nearest"}, "_split_v2": {"indices": ()}}
    more = required.get(name, {})
    for face, data in ((od.nd, od.nd.ones((2, 2))), (od.sym, od.sym.var("x"))):
        with pytest.raises(ParamError, match=f"{name}: parameter '{key}' is 1000000000 and counts tensors"):
            getattr(face, name)(data, **more, **{key: 10**9})
