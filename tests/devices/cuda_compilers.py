"""NVRTC and ptxas, from their wheels: CUDA C++ to PTX, and PTX to machine code, without a device."""

from __future__ import annotations

import ctypes
import subprocess
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

_OK = 0


def folder_of(package: str) -> Path | None:
    """Folder of one of NVIDIA's packages, such as `cuda_nvrtc`; None if it is not installed."""
    try:
        found = find_spec(f"nvidia.{package}")
    except ModuleNotFoundError:
        return None
    return None if found is None else Path(next(iter(found.submodule_search_locations or ())))


def missing() -> str:
    """Why there are no compilers here; "" if there are."""
    lacking = [name for name in ("cuda_nvrtc", "cuda_nvcc") if folder_of(name) is None]
    return f"{' and '.join(lacking)} not installed; pip install --group cuda" if lacking else ""


class CudaError(Exception):
    """A text that a compiler refuses, with what it says."""


def to_ptx(text: str, architecture: str) -> bytes:
    """Compile CUDA C++ as CuPy has it compiled.

    Args:
        architecture: Virtual one, such as `compute_75`.

    Raises:
        CudaError: NVRTC refuses the text.
    """
    folder = folder_of("cuda_nvrtc")
    assert folder is not None
    nvrtc = ctypes.CDLL(str(next((folder / "lib").glob("libnvrtc.so.*"))))
    program = ctypes.c_void_p()
    _check(nvrtc.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"mapper.cu", 0, None, None))
    options = [f"--gpu-architecture={architecture}".encode(), b"--std=c++17", b"-default-device"]
    failed = nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
    if failed != _OK:
        raise CudaError(_read(nvrtc, "ProgramLog", program).decode(errors="replace"))
    found = _read(nvrtc, "PTX", program)
    _check(nvrtc.nvrtcDestroyProgram(ctypes.byref(program)))
    return found


def to_machine_code(ptx: bytes, architecture: str) -> bytes:
    """Assemble PTX for a real architecture, such as `sm_75`.

    Raises:
        CudaError: ptxas refuses it.
    """
    folder = folder_of("cuda_nvcc")
    assert folder is not None
    with TemporaryDirectory(prefix="operad-ptx-") as name:
        source, result = Path(name, "mapper.ptx"), Path(name, "mapper.cubin")
        source.write_bytes(ptx.rstrip(b"\0"))
        ptxas = folder / "bin" / "ptxas"
        ptxas.chmod(ptxas.stat().st_mode | 0o111)
        command = [str(ptxas), f"--gpu-name={architecture}", "-o", str(result), str(source)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise CudaError(done.stderr)
        return result.read_bytes()


def _read(nvrtc: Any, what: str, program: ctypes.c_void_p) -> bytes:
    size = ctypes.c_size_t()
    _check(getattr(nvrtc, f"nvrtcGet{what}Size")(program, ctypes.byref(size)))
    content = ctypes.create_string_buffer(size.value)
    _check(getattr(nvrtc, f"nvrtcGet{what}")(program, content))
    return content.raw[: size.value]


def _check(code: int) -> None:
    if code != _OK:
        raise CudaError(f"NVRTC gave the error {code}")
