"""Files of a model as operad writes them, and results of a checkpoint of either library."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from tests.conformance.models.compute import Computed, computed, parameters
from tests.conformance.models.model import Model


def write(mx: Any, model: Model, folder: Path) -> tuple[Path, Path]:
    """Save the model's checkpoint with `mx`; return the paths of its symbol and its parameters."""
    symbol = model.symbol(mx)
    prefix = str(folder / model.name)
    mx.model.save_checkpoint(prefix, 0, symbol, *parameters(mx, model, symbol))
    return Path(f"{prefix}-symbol.json"), Path(f"{prefix}-0000.params")


def computed_from(mx: Any, model: Model, folder: Path) -> Computed:
    """Results of the checkpoint in `folder` under `mx`."""
    return computed(mx, model, *mx.model.load_checkpoint(str(folder / model.name), 0))


def sha256(path: Path) -> str:
    """SHA-256 of a file's bytes, in hexadecimal."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def digest(symbol: Path, params: Path) -> str:
    """Digest of the contents of both files; the symbol's layout on lines does not count."""
    normal = json.dumps(json.loads(symbol.read_text(encoding="utf-8")), sort_keys=True)
    return hashlib.sha256(normal.encode() + params.read_bytes()).hexdigest()
