"""`operad.io`: iterators over batches of data, those of this package and those that others add.

An iterator is an entry point in the group `operad.iterators`; `io.NAME` finds it in any package, and
imports its module then.
"""

import sys
from typing import TYPE_CHECKING

import operad
from operad_iterators.batch import DataBatch as DataBatch
from operad_iterators.batch import DataDesc as DataDesc
from operad_iterators.iterator import DataIter as DataIter
from operad_iterators.table import init_data as _init_data  # noqa: F401 - a name that programs of MXNet use

if TYPE_CHECKING:
    from operad_iterators.arrays import NDArrayIter as NDArrayIter
    from operad_iterators.csv_file import CSVIter as CSVIter
    from operad_iterators.libsvm_file import LibSVMIter as LibSVMIter
    from operad_iterators.mnist_files import MNISTIter as MNISTIter
    from operad_iterators.prefetching import PrefetchingIter as PrefetchingIter
    from operad_iterators.resizing import ResizeIter as ResizeIter


def __getattr__(name: str) -> object:
    """The iterator that some plugin provides under `name`."""
    if name == "__all__":
        return operad.registry.star_names(sys.modules[__name__])
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return operad.registry.entry("operad.iterators", name)


def __dir__() -> list[str]:
    return sorted({*globals(), *operad.registry.entry_names("operad.iterators")})
