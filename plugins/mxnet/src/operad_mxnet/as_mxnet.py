"""Importing this module makes `import mxnet` mean operad in this process.

For programs that nobody wants to edit: `import operad.as_mxnet` before them, or `operad run-mxnet SCRIPT`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from typing import Final, final

from operad.errors import PluginError
from operad.front import spec_of

ROOT: Final = "mxnet"


@final
class _Alias:
    """Imports `mxnet.x` as `operad.x`; a finder."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: object = None) -> ModuleSpec | None:
        """A specification for every module below `mxnet`."""
        if name.partition(".")[0] != ROOT:
            return None
        return spec_of(name, import_module("operad" + name.removeprefix(ROOT)))


def install() -> None:
    """See the module; once is enough.

    Raises:
        PluginError: MXNet itself has been imported already.
    """
    if any(finder is _Alias for finder in sys.meta_path):
        return
    if ROOT in sys.modules:
        raise PluginError("as_mxnet: mxnet has been imported already; import operad.as_mxnet before it")
    sys.meta_path.insert(0, _Alias)


install()
