"""Importing this module makes `import mxnet` mean operad in this process.

For programs that nobody wants to edit: `import operad.as_mxnet` before them, or `operad run-mxnet SCRIPT`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Final, final

from operad.errors import PluginError

ROOT: Final = "mxnet"


@final
class _Alias:
    """Imports `mxnet.x` as `operad.x`; finder and loader in one."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: object = None) -> ModuleSpec | None:
        """A specification for every module below `mxnet`."""
        return ModuleSpec(name, _Loader()) if name.partition(".")[0] == ROOT else None


@final
class _Loader(Loader):
    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """The module of operad."""
        found = import_module("operad" + spec.name.removeprefix(ROOT))
        self._own = found.__spec__
        return found

    def exec_module(self, module: ModuleType) -> None:
        """It has been executed; the importer has put its own specification there."""
        module.__spec__ = self._own


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
