from __future__ import annotations

import base64
import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

FOLDER = Path(__file__).parent / "mxnet"


@pytest.fixture(scope="session")
def recorder() -> ModuleType:
    spec = importlib.util.spec_from_file_location("gluon_record", FOLDER / "record.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def recorded(tmp_path: Path) -> tuple[Path, dict[str, Any]]:
    """A folder with the files that MXNet wrote, and the record."""
    record = json.loads((FOLDER / "network.json").read_text())
    for name, text in record["files"].items():
        (tmp_path / name).write_bytes(base64.b64decode(text))
    return tmp_path, record
