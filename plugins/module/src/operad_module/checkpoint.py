"""Checkpoints: MXNet's two files, `prefix-symbol.json` and `prefix-0001.params`.

Each file appears whole or not at all, and holds the same bytes as MXNet's.

Source: save_checkpoint and load_checkpoint, python/mxnet/model.py.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from os import PathLike
from typing import Any, NamedTuple

from operad import NDArray, Symbol, nd, sym
from operad.errors import FormatError

Params = dict[str, NDArray]


class BatchEndParam(NamedTuple):
    """Argument of callbacks at the end of a batch.

    Attributes:
        epoch: Number of the epoch.
        nbatch: Number of the batch in it.
        eval_metric: The metric so far.
        locals: Local variables of the loop.
    """

    epoch: int
    nbatch: int
    eval_metric: Any
    locals: Any


def save_checkpoint(
    prefix: str,
    epoch: int,
    symbol: Symbol | None,
    arg_params: Mapping[str, NDArray],
    aux_params: Mapping[str, NDArray],
    remove_amp_cast: bool = True,
) -> None:
    """Write a symbol and its parameters.

    Args:
        prefix: Beginning of the paths of both files.
        epoch: Number in the name of the file of parameters.
        symbol: Left out if None.
        arg_params: Values of arguments.
        aux_params: Values of auxiliary states.
        remove_amp_cast: Accepted; there are no casts of mixed precision to remove.
    """
    if symbol is not None:
        symbol.save(f"{prefix}-symbol.json")
    fname = params_path(prefix, epoch)
    save_named(fname, arg_params, aux_params)
    logging.info('Saved checkpoint to "%s"', fname)


def load_checkpoint(prefix: str, epoch: int) -> tuple[Symbol, Params, Params]:
    """The symbol, arguments and auxiliary states of a checkpoint."""
    return (sym.load(f"{prefix}-symbol.json"), *load_params(prefix, epoch))


def load_params(prefix: str, epoch: int) -> tuple[Params, Params]:
    """The arguments and auxiliary states of a checkpoint."""
    return load_named(params_path(prefix, epoch))


def params_path(prefix: str, epoch: int) -> str:
    """Path of a checkpoint's parameters."""
    return f"{prefix}-{epoch:04d}.params"


def save_named(
    fname: str | PathLike[str], arg_params: Mapping[str, NDArray], aux_params: Mapping[str, NDArray]
) -> None:
    """Write arguments and auxiliary states into one file, as `arg:fc1_weight` and `aux:bn_moving_mean`."""
    named = {f"arg:{name}": value for name, value in arg_params.items()}
    named |= {f"aux:{name}": value for name, value in aux_params.items()}
    nd.save(str(fname), named)


def load_named(fname: str | PathLike[str]) -> tuple[Params, Params]:
    """Parameters that `save_named` wrote.

    Raises:
        FormatError: A name in the file begins with neither `arg:` nor `aux:`.
    """
    loaded = nd.load(str(fname))
    kinds: dict[str, Params] = {"arg": {}, "aux": {}}
    named = loaded.items() if isinstance(loaded, Mapping) else [("", one) for one in loaded]
    for key, value in named:
        kind, _, name = key.partition(":")
        if kind not in kinds or not name:
            raise FormatError(
                f"{str(fname)!r} holds an array called {key!r}, expected 'arg:NAME' or 'aux:NAME'; "
                "read other files of arrays with nd.load"
            )
        kinds[kind][name] = value
    return kinds["arg"], kinds["aux"]
