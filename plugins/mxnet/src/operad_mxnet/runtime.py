"""`mx.runtime`: what this installation can do.

Source: python/mxnet/runtime.py.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from typing import NamedTuple, final

from operad import num_gpus
from operad.errors import ParamError


@final
class Feature(NamedTuple):
    """Something an installation has or lacks."""

    name: str
    enabled: bool

    def __repr__(self) -> str:
        return f"[{'✔' if self.enabled else '✖'} {self.name}]"


def feature_list() -> list[Feature]:
    """Every feature that MXNet 1.x knows and that means something here."""
    has = {
        "CUDA": num_gpus() > 0,
        "CUDA_RTC": num_gpus() > 0,
        "LAPACK": True,
        "BLAS_OPEN": True,
        "OPENMP": find_spec("numba") is not None,
        "OPENCV": find_spec("PIL") is not None,
        "PROFILER": True,
        "DIST_KVSTORE": find_spec("ray") is not None or find_spec("mpi4py") is not None,
        "INT64_TENSOR_SIZE": sys.maxsize > 2**32,
        "SIGNAL_HANDLER": True,
        "CUDNN": False,
        "NCCL": False,
        "MKLDNN": False,
        "TENSORRT": False,
    }
    return [Feature(name, enabled) for name, enabled in has.items()]


class Features(dict[str, Feature]):
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
