"""Checkpoints whose weights are unpacked, so that fused and unfused cells load each other's.

Files are those of MXNet: `PREFIX-symbol.json`, and `PREFIX-0001.params` with `arg:` and `aux:` before names.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from operad import NDArray, Symbol, nd, sym
from operad.errors import FormatError
from operad_rnn_cell.base import BaseRNNCell

Cells = BaseRNNCell | Sequence[BaseRNNCell]


def save_rnn_checkpoint(
    cells: Cells,
    prefix: str,
    epoch: int,
    symbol: Symbol | None,
    arg_params: Mapping[str, NDArray],
    aux_params: Mapping[str, NDArray],
) -> None:
    """Write a network and its weights, unpacked.

    Args:
        cells: The cells of the network.
        prefix: What the files' names begin with.
        epoch: Number in the name of the weights' file.
        symbol: The network; None: only weights are written.
        arg_params: Arguments by name.
        aux_params: Auxiliary states by name.
    """
    arguments = dict(arg_params)
    for cell in _listed(cells):
        arguments = cell.unpack_weights(arguments)
    if symbol is not None:
        symbol.save(f"{prefix}-symbol.json")
    named = {f"arg:{name}": array for name, array in arguments.items()}
    nd.save(f"{prefix}-{epoch:04d}.params", named | {f"aux:{n}": array for n, array in aux_params.items()})


def load_rnn_checkpoint(
    cells: Cells, prefix: str, epoch: int
) -> tuple[Symbol, dict[str, NDArray], dict[str, NDArray]]:
    """The network, its arguments, packed for `cells`, and its auxiliary states.

    Raises:
        FormatError: The weights have no names.
    """
    symbol = sym.load(f"{prefix}-symbol.json")
    file = f"{prefix}-{epoch:04d}.params"
    loaded = nd.load(file)
    if not isinstance(loaded, Mapping):
        raise FormatError(f"{file}: arrays have no names, expected a file that save_rnn_checkpoint wrote")
    arguments, auxiliary = (
        {name.removeprefix(kind): array for name, array in loaded.items() if name.startswith(kind)}
        for kind in ("arg:", "aux:")
    )
    for cell in _listed(cells):
        arguments = cell.pack_weights(arguments)
    return symbol, arguments, auxiliary


def do_rnn_checkpoint(cells: Cells, prefix: str, period: int = 1) -> Callable[..., None]:
    """A callback at the end of epochs that writes a checkpoint with every `period`-th."""
    period = max(1, int(period))

    def callback(iter_no: int, sym: Any = None, arg: Any = None, aux: Any = None) -> None:
        if (iter_no + 1) % period == 0:
            save_rnn_checkpoint(cells, prefix, iter_no + 1, sym, arg or {}, aux or {})

    return callback


def rnn_unroll(
    cell: BaseRNNCell,
    length: int,
    inputs: Any = None,
    begin_state: Sequence[Symbol] | None = None,
    input_prefix: str = "",
    layout: str = "NTC",
) -> tuple[Any, list[Any]]:
    """`cell.unroll`, by its older name.

    Args:
        cell: The cell.
        length: Number of steps.
        inputs: As `unroll` takes them; None: a variable for each step, `t0_data` and so on.
        begin_state: As `unroll` takes them.
        input_prefix: What names of those variables begin with.
        layout: Of merged symbols.
    """
    warnings.warn("rnn_unroll is deprecated; call cell.unroll", DeprecationWarning, stacklevel=2)
    if inputs is None:
        inputs = [sym.var(f"{input_prefix}t{number}_data") for number in range(length)]
    return cell.unroll(length, inputs, begin_state, layout)


def _listed(cells: Cells) -> Sequence[BaseRNNCell]:
    return [cells] if isinstance(cells, BaseRNNCell) else cells
