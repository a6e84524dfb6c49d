"""What every test of the workspace shares: Hypothesis profiles and the fate of GPU tests."""

from __future__ import annotations

import os
from importlib.util import find_spec

import pytest
from hypothesis import settings

settings.register_profile("dev", max_examples=50, deadline=None)
settings.register_profile("ci", max_examples=200, deadline=None, derandomize=True, print_blob=True)
settings.register_profile("nightly", max_examples=2000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "dev"))


def _why_no_gpu() -> str | None:
    if find_spec("cupy") is None:
        return "CuPy is not installed"
    import cupy  # noqa: PLC0415 - heavy, and wanted only where a GPU test is about to run

    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        return f"no CUDA device: {error}"
    return None if count else "no CUDA device"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the plugins' contract suites, and skip GPU tests, with the reason, where there is no GPU."""
    for item in items:
        if getattr(item, "originalname", "") == "test_contract":
            item.add_marker(pytest.mark.contract)
    on_gpu = [item for item in items if item.get_closest_marker("gpu")]
    reason = _why_no_gpu() if on_gpu else None
    if reason:
        for item in on_gpu:
            item.add_marker(pytest.mark.skip(reason=reason))
