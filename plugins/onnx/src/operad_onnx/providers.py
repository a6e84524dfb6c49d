"""Packages that bring rules, for operators whose package is not installed.

`providers.json` is written from the rules of this repository's packages (`make format`).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

import onnx

from operad.files import parse_json, read_text

_TABLE: Final = Path(__file__).with_name("providers.json")


def package_for(name: str) -> str:
    """Reason why no rule for an ONNX operator is here, and what to install.

    Args:
        name: With its domain, `domain::name`, unless that is the standard's.
    """
    package = _packages().get(name)
    if package is not None:
        return f"{package} brings the rule for {name}: pip install {package}"
    domain, separator, kind = name.rpartition("::")
    if not separator and not onnx.defs.has(kind):
        return f"ONNX has no operator {kind!r}, as far as onnx {onnx.__version__} knows"
    where = f" of the domain {domain!r}" if separator else ""
    return (
        f"no package brings a rule for {kind}{where}; one that does has it in a module named by an entry "
        "point of the group operad.onnx"
    )


@cache
def _packages() -> Mapping[str, str]:
    rows = parse_json(read_text(_TABLE, f"the table {str(_TABLE)!r}"), "providers.json")
    return {name: package for package, names in rows.items() for name in names.split()}
