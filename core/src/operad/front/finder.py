"""Import statements for the modules that plugins add, such as `operad.optimizer` and `operad.nd.contrib`.

As attributes they are found by the registry; the finders here make `import` find the same modules.
"""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec
from typing import Any

from operad.first_use import import_module


def spec_of(name: str, module: Any) -> ModuleSpec:
    """For a finder: the specification by which importing `name` gives a module that exists, as it is."""
    return ModuleSpec(name, _Found(module))  # type: ignore[arg-type]  # a loader by its methods


class _InPlugins:
    """Imports `operad.optimizer.updater` as what it is: a module of the plugin behind `operad.optimizer`."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Spec of a namespace; asked first, for the importer of files would make a second module of it."""
        parent, _, last = name.rpartition(".")
        if not parent.startswith("operad."):
            return None
        real = getattr(sys.modules.get(parent), "__name__", "")
        if not real or real.startswith("operad."):
            return None
        registry, path = import_module("operad.registry"), name.removeprefix("operad.")
        if path in registry.entry_names("operad.namespaces"):  # a path of MXNet's that is no file here
            return spec_of(name, registry.entry("operad.namespaces", path))
        whole = f"{real}.{last}"
        try:
            module = import_module(whole)
        except ModuleNotFoundError as error:
            if error.name == whole:
                return None  # the finder below says why
            raise
        registry.explain_absence(path, module)
        return spec_of(name, module)


class _Added:
    """Imports what plugins add: `operad.optimizer`, `operad.nd.contrib`."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Spec of a plugin's namespace; asked last, so that files of the core come first."""
        root, _, rest = name.partition(".")
        if root != "operad" or not rest:
            return None
        first, _, inner = rest.partition(".")
        registry = import_module("operad.registry")
        if inner:
            found = registry.find_attribute({"ndarray": "nd", "symbol": "sym"}.get(first, first), inner)
        else:
            found = registry.namespace(first) if first in registry.entry_names("operad.namespaces") else None
        if found is None and (absent := registry.absent_text(rest)) is not None:
            # Under another name than was asked for, so that `from mxnet import gluon` does not swallow it.
            raise ModuleNotFoundError(f"no module {name!r}; {absent}", name=f"mxnet.{rest}")
        return None if found is None else spec_of(name, found)


class _Found:
    """Gives a module that exists under another name, as it is."""

    def __init__(self, module: Any) -> None:
        self._module, self._own = module, getattr(module, "__spec__", None)

    def create_module(self, spec: ModuleSpec) -> Any:
        return self._module

    def exec_module(self, module: Any) -> None:
        module.__spec__ = self._own  # the importer has put its own there


sys.meta_path.insert(0, _InPlugins)
sys.meta_path.append(_Added)
