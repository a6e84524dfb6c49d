"""Datasets: sequences of samples.

Source: python/mxnet/gluon/data/dataset.py.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import Any, Final

import operad as od
from operad import NDArray
from operad.errors import ArgumentError, ParamError, ShapeError
from operad_gluon.data.sampler import FilterSampler, Sampler, SequentialSampler

__all__ = ["ArrayDataset", "Dataset", "RecordFileDataset", "SimpleDataset"]


class Dataset:
    """Base of datasets: samples by their numbers, and how many there are."""

    def __getitem__(self, idx: int) -> Any:
        raise NotImplementedError(f"{type(self).__name__} does not define __getitem__")

    def __len__(self) -> int:
        raise NotImplementedError(f"{type(self).__name__} does not define __len__")

    def filter(self, fn: Callable[[Any], Any]) -> Dataset:
        """The samples for which `fn` returns true."""
        return _SampledDataset(self, FilterSampler(fn, self))

    def shard(self, num_shards: int, index: int) -> Dataset:
        """One of `num_shards` parts whose lengths differ by at most 1.

        Raises:
            ParamError: There is no part of that number.
        """
        if not 0 <= index < num_shards:
            raise ParamError(
                f"shard: index is {index}, expected 0 to {num_shards - 1} of {num_shards} shards"
            )
        length, rest = divmod(len(self), num_shards)
        start = length * index + min(index, rest)
        return _SampledDataset(self, SequentialSampler(length + (index < rest), start))

    def take(self, count: int | None) -> Dataset:
        """The first `count` samples, or all if there are fewer."""
        most = len(self)
        return _SampledDataset(self, SequentialSampler(most if count is None else min(count, most)))

    def sample(self, sampler: Sampler) -> Dataset:
        """The samples that a sampler names, in its order.

        Raises:
            ArgumentError: It is no `Sampler`.
        """
        if not isinstance(sampler, Sampler):
            raise ArgumentError(f"sample: got {type(sampler).__name__}, expected a gluon.data.Sampler")
        return _SampledDataset(self, sampler)

    def transform(self, fn: Callable[..., Any], lazy: bool = True) -> Dataset:
        """The samples as `fn` returns them; a sample that is a tuple is given as several arguments.

        Args:
            lazy: Call `fn` each time that a sample is read, instead of once for each sample now.
        """
        changed = _LazyTransformDataset(self, fn)
        return changed if lazy else SimpleDataset([changed[i] for i in range(len(changed))])

    def transform_first(self, fn: Callable[[Any], Any], lazy: bool = True) -> Dataset:
        """`transform` of the first element of each sample alone, as of the image beside its label."""
        return self.transform(_TransformFirst(fn), lazy)


class SimpleDataset(Dataset):
    """The elements of a list, or of anything else with a length and indices."""

    def __init__(self, data: Any) -> None:
        self._data = data

    def __len__(self) -> int:
        return len(self._data)

    def __getitem__(self, idx: int) -> Any:
        return self._data[idx]


class _LazyTransformDataset(Dataset):
    def __init__(self, data: Dataset, fn: Callable[..., Any]) -> None:
        self._data = data
        self._fn = fn

    def __len__(self) -> int:
        return len(self._data)

    def __getitem__(self, idx: int) -> Any:
        item = self._data[idx]
        return self._fn(*item) if isinstance(item, tuple) else self._fn(item)


class _TransformFirst:
    """A class and no inner function, so that datasets can be pickled."""

    def __init__(self, fn: Callable[[Any], Any]) -> None:
        self._fn = fn

    def __call__(self, x: Any, *args: Any) -> Any:
        return (self._fn(x), *args) if args else self._fn(x)


class _SampledDataset(Dataset):
    def __init__(self, dataset: Dataset, sampler: Sampler) -> None:
        self._dataset = dataset
        self._sampler = sampler
        self._indices = list(sampler)

    def __len__(self) -> int:
        return len(self._indices)

    def __getitem__(self, idx: int) -> Any:
        return self._dataset[self._indices[idx]]


class ArrayDataset(Dataset):
    """Samples of several arrays or lists of one length: element i of each.

    Args:
        args: The arrays. With one, a sample is its element, otherwise a tuple. An `NDArray` of one axis is
            read as NumPy's, whose elements are numbers.
    """

    def __init__(self, *args: Any) -> None:
        if not args:
            raise ArgumentError("ArrayDataset: got no array, expected at least one")
        self._length = len(args[0])
        self._data: list[Any] = []
        for number, data in enumerate(args):
            if len(data) != self._length:
                raise ShapeError(
                    f"ArrayDataset: array {number} has length {len(data)}, expected {self._length} as array 0"
                )
            is_flat = isinstance(data, NDArray) and len(data.shape) == 1
            self._data.append(data.asnumpy() if is_flat else data)

    def __getitem__(self, idx: int) -> Any:
        found = tuple(data[idx] for data in self._data)
        return found[0] if len(found) == 1 else found

    def __len__(self) -> int:
        return self._length


_reading: Final = defaultdict[int, Lock](Lock)
"""Lock of the readers of each process: one that was forked must not wait for a thread that it has not."""


class RecordFileDataset(Dataset):
    """The records of a RecordIO file, as bytes.

    Args:
        filename: The file; its index lies beside it, with the suffix `.idx`.
    """

    def __init__(self, filename: str | os.PathLike[str]) -> None:
        path = Path(filename)
        self.idx_file = str(path.with_suffix(".idx"))
        self.filename = str(path)
        self._record = od.recordio.MXIndexedRecordIO(self.idx_file, self.filename, "r")

    def __getitem__(self, idx: int) -> Any:
        # A record is looked for and then read, in two calls that threads must not mix.
        with _reading[os.getpid()]:
            return self._record.read_idx(self._record.keys[idx])

    def __len__(self) -> int:
        return len(self._record.keys)


class _DownloadedDataset(Dataset):
    """Base of datasets that are read whole from files under `root`."""

    def __init__(self, root: str | os.PathLike[str], transform: Callable[..., Any] | None) -> None:
        self._transform = transform
        self._data: Any = None
        self._label: Any = None
        self._root = os.path.expanduser(root)
        self._get_data()

    def __getitem__(self, idx: int) -> Any:
        sample = self._data[idx], self._label[idx]
        return sample if self._transform is None else self._transform(*sample)

    def __len__(self) -> int:
        return len(self._label)

    def _get_data(self) -> None:
        """Read `_data` and `_label`."""
        raise NotImplementedError(f"{type(self).__name__} does not define _get_data")
