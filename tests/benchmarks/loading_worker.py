"""One measurement of `loading.py`, in the environment of one library; needs nothing but that library.

Called with the library (`operad`, `mxnet` or `torch`), what to read, the files' prefix and a number of
threads.
"""

from __future__ import annotations

import json
import multiprocessing
import random
import resource
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

SHAPE = (3, 224, 224)
BATCH_SIZE = 64
MEAN = (123.68, 116.28, 103.53)
STD = (58.395, 57.12, 57.375)


def records(library: Any, kind: str, prefix: str) -> Callable[[], int]:
    """Reads all records once, and counts them."""
    io = library.recordio

    def in_a_row() -> int:
        with_all = io.MXRecordIO(f"{prefix}.rec", "r")
        count = 0
        while with_all.read() is not None:
            count += 1
        return count

    if kind == "sequential":
        return in_a_row
    indexed = io.MXIndexedRecordIO(f"{prefix}.idx", f"{prefix}.rec", "r")
    keys = list(indexed.keys)
    random.Random(0).shuffle(keys)

    def by_key() -> int:
        for key in keys:
            indexed.read_idx(key)
        return len(keys)

    return by_key


def images(library: Any, prefix: str, threads: int) -> Callable[[], int]:
    """Makes all batches of a pass, and counts the images."""
    names = ("r", "g", "b")
    batches = library.io.ImageRecordIter(
        path_imgrec=f"{prefix}.rec",
        data_shape=SHAPE,
        batch_size=BATCH_SIZE,
        rand_crop=True,
        rand_mirror=True,
        preprocess_threads=threads,
        verbose=False,
        **{f"mean_{name}": value for name, value in zip(names, MEAN)},  # noqa: B905 - also of Python 3.8
        **{f"std_{name}": value for name, value in zip(names, STD)},  # noqa: B905 - as above
    )

    def one_pass() -> int:
        count = 0
        for batch in batches:
            batch.data[0].wait_to_read()
            count += BATCH_SIZE - batch.pad
        batches.reset()
        return count

    return one_pass


def torch_records(kind: str, prefix: str) -> Callable[[], int]:
    """The same with PyTorch's `DataLoader` over a dataset that reads the file at the index's offsets."""
    import torch

    offsets = _offsets(prefix)

    class Records(torch.utils.data.Dataset):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            self.file = open(f"{prefix}.rec", "rb")  # noqa: SIM115 - as long as the process

        def __len__(self) -> int:
            return len(offsets)

        def __getitem__(self, number: int) -> bytes:
            self.file.seek(offsets[number] + 4)
            return self.file.read(int.from_bytes(self.file.read(4), "little"))

    order = list(range(len(offsets)))
    if kind == "indexed":
        random.Random(0).shuffle(order)
    # In the process itself: records that are only handed on cost its workers more than they save.
    loader = torch.utils.data.DataLoader(Records(), BATCH_SIZE, sampler=order, collate_fn=list)
    torch.set_num_threads(1)
    return lambda: sum(len(batch) for batch in loader)


def _offsets(prefix: str) -> list[int]:
    with open(f"{prefix}.idx") as index:
        return [int(line.split("\t")[1]) for line in index]


def torch_images(prefix: str, threads: int) -> Callable[[], int]:
    """The same with PyTorch's `DataLoader`, processes as workers, and the same decoder."""
    import numpy as np
    import simplejpeg
    import torch

    offsets = _offsets(prefix)
    mean, std = (torch.tensor(values).reshape(3, 1, 1) for values in (MEAN, STD))

    class Photographs(torch.utils.data.Dataset):  # type: ignore[misc, name-defined]
        def __len__(self) -> int:
            return len(offsets)

        def __getitem__(self, number: int) -> Any:
            with open(f"{prefix}.rec", "rb") as file:
                file.seek(offsets[number] + 4)
                size = int.from_bytes(file.read(4), "little")
                content = file.read(size)
            pixels = simplejpeg.decode_jpeg(content[24:])
            top, left = random.randint(0, pixels.shape[0] - 224), random.randint(0, pixels.shape[1] - 224)
            part = pixels[top : top + 224, left : left + 224]
            if random.random() < 0.5:
                part = part[:, ::-1]
            planes = torch.from_numpy(np.ascontiguousarray(part.transpose(2, 0, 1)))
            return (planes.float() - mean) / std

    loader = torch.utils.data.DataLoader(
        Photographs(), BATCH_SIZE, num_workers=threads, persistent_workers=True
    )
    torch.set_num_threads(1)
    return lambda: sum(len(batch) for batch in loader)


def processor_seconds() -> float:
    """Of this process, of those it has ended, and of PyTorch's workers, which go on."""
    own, others = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    ended = own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime
    # The number of a process's clock, as Linux makes it (clock_getcpuclockid).
    workers = [child.pid for child in multiprocessing.active_children() if child.pid]
    return ended + sum(time.clock_gettime(~pid << 3 | 2) for pid in workers)


def rounds(work: Callable[[], int], passes: int) -> Iterator[tuple[float, float]]:
    """Items per second, and per second of processor time, of each pass."""
    for _ in range(passes):
        wall, processor = time.perf_counter(), processor_seconds()
        count = work()
        yield count / (time.perf_counter() - wall), count / (processor_seconds() - processor)


def main() -> None:
    """Measure, and print the best pass as JSON."""
    name, kind, prefix, threads = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
    if name == "torch":
        work = torch_images(prefix, threads) if kind == "images" else torch_records(kind, prefix)
    else:
        library = __import__(name)
        work = images(library, prefix, threads) if kind == "images" else records(library, kind, prefix)
    work()  # the first pass pays for caches and compilation
    found = list(rounds(work, 3))
    best = {"per_second": max(wall for wall, _ in found), "per_cpu_second": max(cpu for _, cpu in found)}
    print(json.dumps(best))


if __name__ == "__main__":
    main()
