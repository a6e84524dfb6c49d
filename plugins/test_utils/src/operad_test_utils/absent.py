"""Names of MXNet's `test_utils` that are absent here, with the reason.

Programs may import these names; calling one raises the reason.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NoReturn

from operad.errors import UnsupportedError

_DOWNLOADS: Final = "operad downloads nothing; fetch the data yourself, and read it with operad.io"
_SPARSE: Final = "arrays are dense"
_GLUON: Final = "there is no Gluon"
_NUMPY: Final = "there is no mx.np"
_BUILD: Final = "it asks for MXNet's own builds"

ABSENT: Final = {
    **dict.fromkeys(
        ["download_model", "get_bz2_data", "get_zip_data"], _DOWNLOADS,
    ),
    **dict.fromkeys(
        ["create_sparse_array", "create_sparse_array_zd", "rand_sparse_ndarray",
         "shuffle_csr_column_indices"], _SPARSE,
    ),
    "check_gluon_hybridize_consistency": _GLUON,
    **dict.fromkeys(["np_symbol", "use_np"], _NUMPY),
    **dict.fromkeys(["get_cuda_compute_capability", "get_im2rec_path", "is_cd_run"], _BUILD),
}  # fmt: skip
"""Reasons by name."""


def absent(name: str) -> Callable[..., NoReturn]:
    """A function that says why there is no `name`."""

    def refuse(*_: Any, **__: Any) -> NoReturn:
        raise UnsupportedError(f"test_utils.{name}: {ABSENT[name]}")

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = f"Not there: {ABSENT[name]}."
    return refuse
