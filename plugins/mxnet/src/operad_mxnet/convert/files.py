"""Files of a model, and their contents."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, final

from operad.errors import ArgumentError, FormatError
from operad.files import parse_json, read_text
from operad_files import opened

_ARRAYS_BEGIN: Final = (0x112).to_bytes(8, "little")
_EPOCH: Final = re.compile(r"-(\d{4,})\.params")


@final
@dataclass(frozen=True, slots=True)
class ModelFiles:
    """The files of one model; at least one of the two.

    Attributes:
        symbol: Path of the symbol's JSON, or None.
        params: Path of the parameters, or None.
        is_prefix: Whether the model was named by its prefix, and so are the files that are written.
        epoch: Number in the name of the parameters' file, where the model was named by its prefix.
    """

    symbol: Path | None
    params: Path | None
    is_prefix: bool = False
    epoch: int = 0

    def written(self, out: str) -> tuple[str, str]:
        """Paths for the symbol and the parameters that are written."""
        return (f"{out}-symbol.json", f"{out}-{self.epoch:04d}.params") if self.is_prefix else (out, out)


def find(name: str, epoch: int | None) -> ModelFiles:
    """The files that `name` means: one file, told by its contents, or the prefix of a checkpoint.

    Raises:
        ArgumentError: There is no such file; or a prefix has files of several epochs and none was chosen.
    """
    path = Path(name)
    if path.is_file():
        if epoch is not None:
            raise ArgumentError(f"--epoch goes with the prefix of a checkpoint, and {name!r} is a file")
        with opened(path, repr(name)) as file:
            is_arrays = file.read(len(_ARRAYS_BEGIN)) == _ARRAYS_BEGIN or path.suffix == ".params"
        return ModelFiles(None, path) if is_arrays else ModelFiles(path, None)
    symbol = Path(f"{name}-symbol.json")
    if not symbol.is_file():
        raise ArgumentError(
            f"there is neither a file {name!r} nor {str(symbol)!r}; expected a symbol file, a file of "
            "parameters, or the prefix of a checkpoint"
        )
    epochs = _epochs(path)
    if epoch is None and len(epochs) > 1:
        listed = ", ".join(map(str, sorted(epochs)))
        raise ArgumentError(f"{name!r} has parameters of the epochs {listed}; choose one with --epoch")
    if epoch is None:
        epoch = next(iter(epochs), None)
    elif epoch not in epochs:
        listed = ", ".join(map(str, sorted(epochs))) or "none"
        raise ArgumentError(f"{name!r} has no parameters of epoch {epoch}; there are: {listed}")
    return ModelFiles(symbol, None if epoch is None else epochs[epoch], True, epoch or 0)


def _epochs(prefix: Path) -> dict[int, Path]:
    ends = [(path, path.name.removeprefix(prefix.name)) for path in prefix.parent.iterdir()]
    return {int(found[1]): path for path, end in ends if (found := _EPOCH.fullmatch(end))}


def read_document(path: Path) -> dict[str, Any]:
    """A symbol file's JSON, checked as far as that needs no operators.

    Raises:
        FormatError: It is no symbol file; the message says where it is damaged.
    """
    where = f"symbol file {str(path)!r}"
    document: Any = parse_json(read_text(path, where), where)
    nodes = document.get("nodes") if isinstance(document, dict) else None
    if not isinstance(nodes, list) or not nodes:
        raise FormatError(f"{where}: there is no list of 'nodes'; expected a file that Symbol.save wrote")
    for number, node in enumerate(nodes):
        _check(node, f"node {number} of {where}")
    return dict(document)


def _check(node: object, where: str) -> None:
    if not isinstance(node, dict):
        raise FormatError(f"{where} is {type(node).__name__}, expected an object")
    for key in ("op", "name"):
        if not isinstance(node.get(key), str):
            raise FormatError(f"{where}: {key!r} is {node.get(key)!r}, expected text")
    for key in ("param", "attr", "attrs"):
        if not isinstance(node.get(key, {}), dict):
            raise FormatError(f"{where}: {key!r} is {type(node[key]).__name__}, expected an object")


def version_of(document: Mapping[str, Any]) -> str | None:
    """The version of MXNet that wrote a symbol file, such as 1.9.1; None where it does not say."""
    attrs = document.get("attrs")
    told = attrs.get("mxnet_version") if isinstance(attrs, dict) else None
    if not isinstance(told, list) or len(told) != 2 or type(told[1]) is not int:
        return None
    major, rest = divmod(told[1], 10000)
    return f"{major}.{rest // 100}.{rest % 100}"
