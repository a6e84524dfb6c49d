"""Functions of symbols and `od.sym` for files: `symbol.save`, `sym.load`, and the like.

Source: Symbol, python/mxnet/symbol/symbol.py.
"""

from __future__ import annotations

from pathlib import Path

from operad.boundary import boundary
from operad.files import read_text, write_atomically
from operad.symbol import Symbol
from operad_serialization.describe import describe
from operad_serialization.read_json import from_json
from operad_serialization.write_json import to_json


def tojson(self: Symbol, remove_amp_cast: bool = True) -> str:
    """The graph in MXNet 1.x's JSON form; no operator is one that `remove_amp_cast` could leave out."""
    return to_json(self.graph)


@boundary
def save(self: Symbol, fname: str | Path, remove_amp_cast: bool = True) -> None:
    """Write `tojson()` to a file, whole or not at all."""
    write_atomically(fname, tojson(self, remove_amp_cast).encode())


def debug_str(self: Symbol) -> str:
    """The outputs and nodes with inputs and attributes, as MXNet prints them."""
    return describe(self.graph)


@boundary
def load_json(json_str: str) -> Symbol:
    """The symbol that `tojson` or MXNet 1.x wrote.

    Raises:
        FormatError: The text is not such a file.
        OperatorNotFoundError: It uses an operator that no installed plugin provides.
    """
    return Symbol(from_json(json_str).outputs)


@boundary
def load(fname: str | Path) -> Symbol:
    """The symbol in a file that `save` or MXNet 1.x wrote.

    Raises:
        FormatError: It is no such file; the message names it.
        OperatorNotFoundError: It uses an operator that no installed plugin provides.
    """
    source = f"symbol file {str(fname)!r}"
    return Symbol(from_json(read_text(fname, source), source=source).outputs)
