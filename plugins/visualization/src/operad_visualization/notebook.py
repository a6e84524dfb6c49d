"""Display of arrays and symbols in notebooks."""

from __future__ import annotations

from html import escape
from typing import Any, Final

from operad import NDArray, Symbol
from operad_visualization.plot import plot_network

_ROWS: Final = 8
_COLUMNS: Final = 8
_MOST_NODES: Final = 500
"""A larger graph says nothing as a picture, and is slow to lay out."""


def symbol_svg(symbol: Symbol) -> str | None:
    """The network as a picture; None for one too large for that."""
    if len(symbol.get_internals()) > _MOST_NODES:
        return None
    return plot_network(symbol, title=symbol.name or "network")._repr_svg_()


def array_html(array: NDArray) -> str:
    """Shape, type, context, and the first values, after waiting for them; an array that failed shows why.

    No more is copied from the device than what is shown.
    """
    shape = " x ".join(map(str, array.shape)) or "scalar"
    facts = f"NDArray {shape}, {array.dtype.name}, {array.context}"
    try:
        shown = _table(array) if array.size else "<p>no elements</p>"
    except Exception as error:  # noqa: BLE001 - whatever an operator raised is what there is to show
        shown = f"<p>it has no value: {escape(type(error).__name__)}: {escape(str(error))}</p>"
    return f"<div><p><b>{escape(facts)}</b></p>{shown}</div>"


def _table(array: NDArray) -> str:
    """The first rows and columns of the first matrix."""
    corner = (slice(_ROWS), slice(_COLUMNS))[2 - min(array.ndim, 2) :]
    values = array.detach()[(0,) * (array.ndim - 2) + corner].asnumpy()
    height, width = (1, 1, *array.shape)[-2:]
    rows = values.reshape(min(height, _ROWS), min(width, _COLUMNS))
    more = "<td>…</td>" if width > _COLUMNS else ""
    lines = [f"<tr>{''.join(f'<td>{_number(value)}</td>' for value in row)}{more}</tr>" for row in rows]
    if height > _ROWS:
        lines.append(f"<tr>{'<td>…</td>' * rows.shape[1]}{more}</tr>")
    where = f"<p>[{', '.join('0' * (array.ndim - 2))}] of the first axes</p>" if array.ndim > 2 else ""
    return f"{where}<table>{''.join(lines)}</table>"


def _number(value: Any) -> str:
    return f"{value:.6g}" if value.dtype.kind == "f" else str(value)
