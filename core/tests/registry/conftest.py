"""Plugins as pip would leave them: real `.dist-info` folders on a path that holds nothing else."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import packaging.requirements  # noqa: F401 - found now, because site-packages is hidden below
import pluggy  # noqa: F401 - as above
import pytest
import threadpoolctl  # noqa: F401 - as above

from operad import config, registry

CORE_VERSION = "0.4.0"
PROPERTY = """
from operad.op import OperatorProperty
class {name}(OperatorProperty):
    def infer_shape(self, in_shapes):
        return list(in_shapes), [in_shapes[0]], []
"""


class Site:
    """A folder on `sys.path` that distributions are installed into."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._modules: set[str] = set()

    @staticmethod
    def properties(*names: str) -> str:
        """Source of a module that defines one property class per name."""
        return "".join(PROPERTY.format(name=name) for name in names)

    def install(
        self,
        name: str,
        version: str = "1.0",
        *,
        modules: Mapping[str, str] | None = None,
        requires: tuple[str, ...] = (),
        folder: Path | None = None,
        **groups: Mapping[str, str],
    ) -> None:
        """Write a distribution; `operators={...}` gives the entry points of `operad.operators`."""
        folder = folder or self.folder
        info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
        info.mkdir(parents=True)
        lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"]
        lines += [f"Requires-Dist: {line}" for line in requires]
        (info / "METADATA").write_text("\n".join(lines) + "\n\nName: a README, no header\n")
        sections = []
        for group, points in groups.items():
            sections += [f"[operad.{group}]", *(f"{point} = {value}" for point, value in points.items()), ""]
        if sections:
            (info / "entry_points.txt").write_text("\n".join(sections))
        for module, source in (modules or {}).items():
            self.write(module, source, folder)

    def write(self, module: str, source: str, folder: Path | None = None) -> None:
        """Write one module; a dotted name makes packages."""
        self._modules.add(module.partition(".")[0])
        path = (folder or self.folder).joinpath(*module.split(".")).with_suffix(".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source)

    def uninstall(self, name: str) -> None:
        """Remove the distribution's metadata, and its modules from the process."""
        for info in self.folder.glob(f"{name.replace('-', '_')}-*.dist-info"):
            shutil.rmtree(info)

    def is_imported(self, module: str) -> bool:
        return module in sys.modules

    def forget_modules(self) -> None:
        for name in list(sys.modules):
            if name.partition(".")[0] in self._modules:
                del sys.modules[name]


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """An environment with the core and nothing else installed."""
    installed = [path for path in sys.path if any(Path(path or ".").glob("*.dist-info"))]
    folder = tmp_path / "site"
    folder.mkdir()
    kept = [path for path in sys.path if path not in installed]
    monkeypatch.setattr(sys, "path", [str(folder), *kept])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    made = Site(folder)
    made.install("operad", CORE_VERSION)
    registry.refresh()
    yield made
    made.forget_modules()
    monkeypatch.undo()
    config.reload()
    registry.refresh()


@pytest.fixture
def set_environment(site: Site, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Sets `OPERAD_*` variables, given without the prefix, and lets them take effect."""

    def change(**variables: str) -> None:
        for name, value in variables.items():
            monkeypatch.setenv(f"OPERAD_{name}", value)
        config.reload()
        registry.refresh()

    return change
