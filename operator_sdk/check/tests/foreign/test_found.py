"""Back ends that cannot be used, as distributions that pip installed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from operad import config, registry
from operad.errors import ArgumentError, BlockedPluginError, BrokenPluginError
from operad_check.foreign.found import backend_named, names, register_adapters
from operad_check.foreign.numpy_backend import NumpyBackend


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Installs `acme-check`, whose entry point `acmelib` has a value."""

    def add(value: str, **modules: str) -> None:
        info = tmp_path / "acme_check-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-check\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[operad.check_backends]\nacmelib = {value}\n")
        for name, source in modules.items():
            (tmp_path / f"{name}.py").write_text(source)
        registry.refresh()

    monkeypatch.syspath_prepend(tmp_path)
    yield add
    monkeypatch.undo()
    config.reload()
    registry.refresh()


def test_a_library_that_nothing_checks_says_what_to_install() -> None:
    with pytest.raises(ArgumentError, match=r"functions of 'mxlib'; expected one of jax, numpy, torch"):
        backend_named("mxlib")


def test_an_installed_package_is_listed_and_found(install: Callable[..., None]) -> None:
    install("operad_check.foreign.numpy_backend:NumpyBackend")
    assert names() == ["acmelib", "jax", "numpy", "torch"]
    assert isinstance(backend_named("acmelib"), NumpyBackend)


def test_a_library_that_is_not_installed_is_asked_for(install: Callable[..., None]) -> None:
    install("acme_of_lib:Backend", acme_of_lib="import acmelib")
    with pytest.raises(ArgumentError, match="need the library, which is not installed; pip install acmelib"):
        backend_named("acmelib")


@pytest.mark.parametrize(
    ("value", "source", "reason"),
    [
        ("acme_raising:Backend", "raise ValueError('bad day')", "ValueError: bad day"),
        ("acme_empty:Backend", "", "'acme_empty:Backend' does not exist"),
        ("acme_number:number", "number = 7", r"of the wrong kind \(int\), expected a class or function"),
    ],
)
def test_what_cannot_be_used_says_whose_it_is_and_why(
    install: Callable[..., None], value: str, source: str, reason: str
) -> None:
    install(value, **{value.partition(":")[0]: source})
    with pytest.raises(BrokenPluginError, match=rf"check_backend 'acmelib' of acme-check 1.0 .*{reason}"):
        backend_named("acmelib")


def test_a_package_that_is_switched_off_is_not_used(
    install: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPERAD_BLOCK", "acme-check")
    config.reload()
    install("operad_check.foreign.numpy_backend:NumpyBackend")
    with pytest.raises(BlockedPluginError, match="OPERAD_BLOCK switches acme-check off"):
        backend_named("acmelib")


@pytest.mark.parametrize("blocked", ["", "acme-check"])
def test_checks_of_an_adapter_are_registered_unless_it_is_switched_off(
    install: Callable[..., None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, blocked: str
) -> None:
    folder = tmp_path / "acme_adapter"
    folder.mkdir()
    for name in ("__init__", "checks"):
        (folder / f"{name}.py").touch()
    monkeypatch.setenv("OPERAD_BLOCK", blocked)
    config.reload()
    install("acme_adapter.checking:Backend")
    for name in ("acme_adapter", "acme_adapter.checks"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    register_adapters()
    assert ("acme_adapter.checks" in sys.modules) == (not blocked)
