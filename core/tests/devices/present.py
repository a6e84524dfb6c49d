"""Whether a CUDA device is there."""

from __future__ import annotations

from importlib.util import find_spec


def why_no_gpu() -> str | None:
    """Why this process can use no CUDA device; None if it can."""
    if find_spec("cupy") is None:
        return "CuPy is not installed"
    import cupy

    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        return f"no CUDA device: {error}"
    return None if count else "no CUDA device"
