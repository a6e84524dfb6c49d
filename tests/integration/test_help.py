"""What `help`, `inspect.signature` and completion show of every installed operator."""

from __future__ import annotations

import inspect
import pydoc
import rlcompleter

import pytest

from operad import nd, registry, sym
from operad.ndarray import array_names

NAMES = registry.list_operators()
TAKES_ARRAYS = [n for n in NAMES if not n.startswith("_") and array_names(registry.get(n)) != ()]


def shown(function):
    """The names in a signature, without what every function takes."""
    common = {"out", "ctx", "name", "attr"}
    return [name for name in inspect.signature(function).parameters if name not in common]


def wanted(name):
    """The names that the operator declares."""
    op = registry.get(name)
    arrays = array_names(op)
    words = [param for param in op.params if param not in ("out", "ctx", "name", op.key_var_num_args)]
    return [*(("data",) if arrays is None else arrays), *words]


@pytest.mark.parametrize("face", [nd, pytest.param(sym, marks=pytest.mark.more)], ids=["nd", "sym"])
def test_functions_show_what_their_operators_declare(face):
    for name in NAMES:
        if (face, name) == (sym, "var"):
            continue  # makes a variable; symbols have the operator as `variance`
        function = getattr(face, name)
        assert sorted(shown(function)) == sorted(wanted(name)), name
        assert function.__name__ == name
        assert inspect.cleandoc(registry.get(name).__doc__) in function.__doc__, name
        for param in registry.get(name).params:
            assert param in function.__doc__, (name, param)
    assert set(NAMES) <= set(dir(face))


@pytest.mark.parametrize("x", [nd.ones((2,)), sym.var("x")], ids=["NDArray", "Symbol"])
def test_methods_show_what_follows_the_array(x):
    face = nd if isinstance(x, nd.NDArray) else sym
    own = {*dir(type(x)), *registry.attribute_names(type(x).__name__)}
    for name in TAKES_ARRAYS:
        if name in own:
            assert inspect.signature(getattr(x, name)).parameters is not None
            continue
        # `sym.var` makes a variable; a symbol's method is the operator's, which is `variance` too.
        function = getattr(face, "variance" if (face, name) == (sym, "var") else name)
        method = getattr(x, name)
        is_any_number = next(iter(inspect.signature(function).parameters.values())).kind is (
            inspect.Parameter.VAR_POSITIONAL
        )
        assert shown(method) == shown(function)[0 if is_any_number else 1 :], name
        assert method.__doc__ == function.__doc__, name
    assert set(TAKES_ARRAYS) <= set(dir(x))


@pytest.mark.parametrize("function", [nd.FullyConnected, sym.FullyConnected], ids=["nd", "sym"])
def test_help_begins_with_the_signature(function):
    # The first line says what is shown. Where a signature is long, Python 3.13 writes an argument a line.
    page = " ".join(pydoc.plain(pydoc.render_doc(function)).split()).replace("( ", "(")
    assert "FullyConnected(data, weight=None, bias=None, *, num_hidden, no_bias=False, flatten=True" in page
    assert "num_hidden int" in page


def test_completion_finds_functions_and_methods():
    completer = rlcompleter.Completer({"nd": nd, "sym": sym, "x": nd.ones((2,)), "s": sym.var("s")})
    for text in ("nd.FullyConnec", "sym.FullyConnec", "x.arctan", "s.arctan"):
        found = [completer.complete(text, number) for number in range(2)]
        assert any((word or "").rstrip("()").endswith(("FullyConnected", "arctan")) for word in found), text
