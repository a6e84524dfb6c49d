"""Whole programs whose outcome is a function of their text, whatever calls they make; each gets a folder."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np

import operad as od
from operad import config
from operad_image.listing import find_images, write_lists
from operad_image.packing import Packing, pack_list
from operad_kvstore_ray.connection import Connection
from operad_kvstore_ray.listener import Listener
from operad_sdk.vector import machine
from tests.reliability.training import digest

IMAGES, BATCH, SIDE = 8, 4, 12


def prepare_fit(folder: Path) -> None:
    """Write images, and what is compiled for the program."""
    draw = np.random.default_rng(0)
    with od.recordio.MXRecordIO(folder / "images.rec", "w") as out:
        for number in range(IMAGES):
            pixels = draw.integers(0, 255, (SIDE, SIDE, 3)).astype(np.uint8)
            header = od.recordio.IRHeader(0, number % 2, number, 0)
            out.write(od.recordio.pack(header, od.image.codec.encode(pixels)))
    od.recordio.build_index(folder / "images.rec", checksums=True)


def fit(folder: Path) -> str:
    """Train on images, with checkpoints, a log of metrics, a profile and a cache of kernels."""
    _forget_kernels(folder / "cache")
    od.random.seed(11)
    batches = od.io.ImageRecordIter(
        path_imgrec=str(folder / "images.rec"), path_imgidx=str(folder / "images.idx"),
        data_shape=(3, SIDE, SIDE), batch_size=BATCH, shuffle=True, seed=3, rand_mirror=True, scale=1 / 255,
        preprocess_threads=1,
    )  # fmt: skip
    net = od.sym.Convolution(od.sym.var("data"), kernel=(3, 3), num_filter=4, name="conv")
    net = od.sym.FullyConnected(od.sym.Flatten(od.sym.tanh(net)), num_hidden=2, name="fc")
    module = od.mod.Module(od.sym.SoftmaxOutput(net, name="softmax"))
    od.profiler.set_config(filename=str(folder / "profile.json"))
    od.profiler.set_state("run")
    try:
        module.fit(
            batches,
            num_epoch=2,
            initializer=od.init.Xavier(),
            optimizer_params={"learning_rate": 0.05, "momentum": 0.9},
            batch_end_callback=od.callback.JSONLines(folder / "metrics.jsonl"),
            checkpoint=od.callback.Checkpoint(str(folder / "net"), every_batches=1, keep=1),
            resume=True,
        )
    finally:
        od.profiler.set_state("stop")
        batches.close()
    od.profiler.dump()
    weights = {name: array.asnumpy() for name, array in module.get_params()[0].items()}
    return digest(weights)


def _forget_kernels(folder: Path) -> None:
    os.environ["OPERAD_CACHE_DIR"] = str(folder)
    config.reload()
    machine._addresses.found.clear()


def prepare_files(folder: Path) -> None:
    """Write rows of numbers."""
    (folder / "rows.csv").write_text("1,2,3\n4,5,6\n" * 4)
    (folder / "rows.svm").write_text("1 0:1 2:3\n0 1:5\n" * 4)
    for number in range(4):
        (folder / "images" / "ab"[number % 2]).mkdir(parents=True, exist_ok=True)
        pixels = np.full((6, 7, 3), number * 20, np.uint8)
        (folder / "images" / "ab"[number % 2] / f"{number}.png").write_bytes(
            od.image.codec.encode(pixels, ".png", 3)
        )


def files(folder: Path) -> str:
    """Save and load arrays and symbols, read rows, write and read records with an index."""
    arrays = {"a": od.nd.arange(6), "b": od.nd.ones((2, 3))}
    od.nd.save(str(folder / "arrays.params"), arrays)
    od.sym.tanh(od.sym.var("x"), name="tanh").save(str(folder / "net.json"))
    with od.recordio.MXIndexedRecordIO(folder / "a.idx", folder / "a.rec", "w") as out:
        for number in range(3):
            out.write_idx(number, bytes([number]) * 50)
    found = [value.asnumpy().tobytes() for value in od.nd.load(str(folder / "arrays.params")).values()]
    found.append(od.sym.load(str(folder / "net.json")).tojson().encode())
    with od.recordio.MXIndexedRecordIO(folder / "a.idx", folder / "a.rec", "r") as records:
        found += [records.read_idx(number) for number in (2, 0, 1)]
    for rows in (
        od.io.CSVIter(folder / "rows.csv", (3,), batch_size=2),
        od.io.LibSVMIter(folder / "rows.svm", (3,), batch_size=2),
    ):
        found += [batch.data[0].asnumpy().tobytes() for batch in rows]
    return hashlib.sha256(b"|".join([*found, *_packed(folder), *_states(folder)])).hexdigest()


def _packed(folder: Path) -> list[bytes]:
    """Images of folders in a record file, by a list."""
    root, prefix = str(folder / "images"), str(folder / "packed")
    write_lists(prefix, list(find_images(root, [".png"], True)))
    count, failures = pack_list(f"{prefix}.lst", Packing(root, encoding=".png", quality=3))
    packed = od.image.ImageIter(2, (3, 6, 7), path_imgrec=f"{prefix}.rec", path_imgidx=f"{prefix}.idx")
    listed = od.image.ImageIter(2, (3, 6, 7), path_imglist=f"{prefix}.lst", path_root=root)
    batches = [batch.data[0].asnumpy().tobytes() for images in (packed, listed) for batch in images]
    return [repr((count, failures)).encode(), *batches]


def _states(folder: Path) -> list[bytes]:
    """States of an optimizer that a store has."""
    path = str(folder / "states")
    stores = [od.kv.create("local") for _ in range(2)]
    for store in stores:
        store.init("w", od.nd.zeros((3,)))
        store.set_optimizer(od.optimizer.SGD(momentum=0.9))
    stores[0].push("w", od.nd.ones((3,)))
    stores[0].save_optimizer_states(path)
    stores[1].load_optimizer_states(path)
    for store in stores:
        store.push("w", od.nd.ones((3,)))
    found = od.nd.zeros((3,))
    stores[1].pull("w", out=found)
    return [found.asnumpy().tobytes()]


def connections(folder: Path) -> str:
    """Ask a listener until each question is answered, and as a store's link take another way at last."""
    listener: Any = None
    found: list[bytes] = []
    connection: Any = None
    errors = 0
    while len(found) < 6:
        try:
            listener = listener or Listener("127.0.0.1", lambda tag, content: (tag, [bytes(content)[::-1]]))
            connection = connection or Connection(listener.address, 10.0)
            request = connection.send(1, [bytes([len(found)]) * 1000])
            found.append(bytes(connection.receive(request.number)[1]))
        except OSError:
            connection = None
            if (errors := errors + 1) > 3:
                found.append(bytes([len(found)]) * 1000)  # as Ray would carry it
    return hashlib.sha256(b"".join(found)).hexdigest()


def nothing(folder: Path) -> None:
    """Prepare nothing."""


PROGRAMS: Final[dict[str, tuple[Callable[[Path], None], Callable[[Path], str]]]] = {
    "fit": (prepare_fit, fit),
    "files": (prepare_files, files),
    "connections": (nothing, connections),
}
"""What prepares each, without faults, and what runs it."""
