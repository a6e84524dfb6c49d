from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from operad_check.new.requests import (
    KINDS,
    ScaffoldError,
    checked_together,
    distribution_name,
    read_requests,
    request,
    write_requests,
)

NAMES = st.from_regex(r"_?[A-Za-z][A-Za-z0-9_]{0,30}", fullmatch=True)


@pytest.mark.parametrize(
    ("name", "module", "symbol"),
    [
        ("smooth_l1", "smooth_l1", "smooth_l1"),
        ("FullyConnected", "fully_connected", "FullyConnected"),
        ("FC", "fc", "FC"),
        ("RNNCell2", "rnn_cell2", "RNNCell2"),
        ("_plus_scalar", "plus_scalar", "plus_scalar"),
        ("abs", "abs", "abs_"),  # the built-in function is used beside it
        ("param", "param", "param_"),  # as is what the module imports
        ("_lambda", "lambda_", "lambda_"),
    ],
)
def test_an_operator_gets_a_file_and_a_symbol(name: str, module: str, symbol: str) -> None:
    one = request(name, "unary")
    assert (one.module, one.symbol) == (module, symbol)


@given(st.dictionaries(NAMES, st.sampled_from(sorted(KINDS)), min_size=1, max_size=5))
def test_a_line_of_operators_reads_back(ops: dict[str, str]) -> None:
    try:
        requests = checked_together(request(name, kind) for name, kind in ops.items())
    except ScaffoldError:
        return  # two in one file, or a keyword: covered below
    assert read_requests(write_requests(requests)) == requests
    assert all(one.module.isidentifier() and one.symbol.isidentifier() for one in requests)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "no operator was asked for"),
        ("relu", "kind is ''"),
        ("relu:unery", "kind is 'unery', expected one of unary, binary"),
        ("re-lu:unary", "expected a Python name"),
        ("lambda:unary", "expected a Python name"),
        ("größe:unary", "expected a Python name"),
        ("__init__:unary", "expected a Python name"),
        ("__call__:property", "no more than one underscore"),
        ("a/b:unary", "expected a Python name"),
        ("/tmp/x:unary", "expected a Python name"),
        ("a.b:unary", "expected a Python name"),
        ("_:unary", "expected a Python name"),
        ("None:unary", "expected a Python name"),
        ("../x:unary", "expected a Python name"),
        ("contract:unary", "tests/test_contract.py is taken"),
        ("RowNorm:unary row_norm:binary", "would both be in row_norm.py"),
        (f"{'a' * 41}:unary", "has 41 characters, expected at most 40"),
    ],
)
def test_what_cannot_be_made_is_refused_with_the_reason(line: str, message: str) -> None:
    with pytest.raises(ScaffoldError, match=message):
        read_requests(line)


@pytest.mark.parametrize("text", ["acme-losses", "Acme_Losses", "acme.losses"])
def test_names_are_spelt_as_an_index_spells_them(text: str) -> None:
    assert distribution_name(text) == "acme-losses"


@pytest.mark.parametrize(
    "text",
    ["", "2fast", "acme losses", "../up", "a" * 41, "operad-sdk", "operad-check", "numpy", "json", "in"],
)
def test_names_that_no_package_can_have_are_refused(text: str) -> None:
    with pytest.raises(ScaffoldError, match="name "):
        distribution_name(text)
