"""Files of weights in a local folder.

Source: python/mxnet/gluon/model_zoo/model_store.py. Differs: nothing is downloaded, and a file may have any
digest in its name, or none.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final, TypeVar

import operad
from operad import cpu
from operad_gluon.block import HybridBlock
from operad_gluon.local_files import existing

__all__ = ["get_model_file", "purge"]

ROOT: Final = os.path.join(operad.base.data_dir(), "models")
CPU: Final = cpu()
Folder = str | os.PathLike[str]
Net = TypeVar("Net", bound=HybridBlock)


def get_model_file(name: str, root: Folder = ROOT) -> str:
    """Path of a model's weights: `NAME-DIGEST.params`, as MXNet's own are called, or `NAME.params`.

    Args:
        name: As `get_model` takes it.
        root: The folder.
    Raises:
        OperadError: There is no such file; a `FileNotFoundError` too.
    """
    folder = Path(root).expanduser()
    with_digest = sorted(path.name for path in folder.glob(f"{name}-????????.params"))
    names = [f"{name}.params", *with_digest]
    return str(existing(f"pretrained {name}", str(folder), names, "put MXNet's file of weights there"))


def purge(root: Folder = ROOT) -> None:
    """Delete all files of weights in a folder.

    Args:
        root: The folder.
    """
    for path in Path(root).expanduser().glob("*.params"):
        path.unlink()


def with_weights(net: Net, pretrained: bool, name: str, ctx: Any, root: Folder) -> Net:
    """A network, with the weights of its file where `pretrained` is true."""
    if pretrained:
        net.load_parameters(get_model_file(name, root=root), ctx=ctx)
    return net
