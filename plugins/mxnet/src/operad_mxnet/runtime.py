"""`mx.runtime`: what this installation can do.

Source: python/mxnet/runtime.py.
"""

from __future__ import annotations

import sys
from collections import OrderedDict
from importlib.util import find_spec
from typing import Any, Final, NamedTuple, final

import numpy as np

from operad import num_gpus
from operad.errors import ParamError


@final
class Feature(NamedTuple):
    """Something an installation has or lacks."""

    name: str
    enabled: bool

    def __repr__(self) -> str:
        return f"{'✔' if self.enabled else '✖'} {self.name}"


_INSTRUCTIONS: Final = {
    "CPU_SSE": "SSE", "CPU_SSE2": "SSE2", "CPU_SSE3": "SSE3", "CPU_SSE4_1": "SSE41", "CPU_SSE4_2": "SSE42",
    "CPU_SSE4A": "SSE4A", "CPU_AVX": "AVX", "CPU_AVX2": "AVX2",
}  # fmt: skip
"""Instruction sets, and NumPy's names of them."""
_LEVELS: Final = {"X86_V2": "SSE SSE2 SSE3 SSE41 SSE42", "X86_V3": "AVX AVX2 F16C"}
"""Names under which NumPy 2.4 and later have several together."""


def feature_list() -> list[Feature]:
    """Every feature that MXNet 1.x knows, in its order: what this installation, or NumPy in it, has of it."""
    numpy_has: Any = np.show_config(mode="dicts")
    simd = numpy_has["SIMD Extensions"]
    named = [*simd["baseline"], *simd["found"]]
    instructions = {one for name in named for one in _LEVELS.get(name, name).split()}
    blas = numpy_has["Build Dependencies"]["blas"]["name"]
    has_gpu = num_gpus() > 0
    has = {
        "CUDA": has_gpu, "CUDNN": False, "NCCL": False, "CUDA_RTC": has_gpu, "TENSORRT": False,
        **{name: numpys in instructions for name, numpys in _INSTRUCTIONS.items()},
        "OPENMP": find_spec("numba") is not None,
        "SSE": "SSE" in instructions, "F16C": "F16C" in instructions,
        "JEMALLOC": False, "BLAS_OPEN": "openblas" in blas, "BLAS_ATLAS": "atlas" in blas,
        "BLAS_MKL": "mkl" in blas, "BLAS_APPLE": "accelerate" in blas, "LAPACK": True, "MKLDNN": False,
        "OPENCV": find_spec("cv2") is not None or find_spec("PIL") is not None, "CAFFE": False,
        "PROFILER": True,
        "DIST_KVSTORE": find_spec("ray") is not None or find_spec("mpi4py") is not None,
        "CXX14": False, "INT64_TENSOR_SIZE": sys.maxsize > 2**32, "SIGNAL_HANDLER": True, "DEBUG": False,
        "TVM_OP": False,
    }  # fmt: skip
    return [Feature(name, enabled) for name, enabled in has.items()]


class Features(OrderedDict[str, Feature]):
    """The features by name."""

    def __init__(self) -> None:
        super().__init__([(feature.name, feature) for feature in feature_list()])

    def is_enabled(self, feature_name: str) -> bool:
        """Return whether the installation has a feature, named in any case.

        Raises:
            ParamError: There is no such feature.
        """
        found = self.get(feature_name.upper())
        if found is None:
            raise ParamError(f"no feature {feature_name!r}; expected one of {', '.join(self)}")
        return found.enabled

    def __repr__(self) -> str:
        return str(list(self.values()))
