"""As `resuming`, on photographs that threads decode, cut and mirror at random.

    python -m tests.reliability.resuming_images FOLDER EPOCHS [KILL_AT_SYNC]

FOLDER has what `write_photographs` wrote. Every process has another number of threads.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_sample_images

import operad as od
from tests.reliability.resuming import EVERY, run_program
from tests.reliability.training import digest

IMAGES, BATCH = 42, 4
CHANGES = {"rand_crop": True, "rand_mirror": True, "brightness": 0.3, "saturation": 0.3, "scale": 1 / 255}


def write_photographs(folder: Path) -> None:
    """Parts of scikit-learn's two photographs, labelled with the photograph they are of."""
    photographs = load_sample_images().images
    rng = np.random.default_rng(0)
    with od.recordio.MXRecordIO(folder / "photos.rec", "w") as out:
        for number in range(IMAGES):
            top, left = rng.integers(0, 427 - 40), rng.integers(0, 640 - 50)
            part = np.ascontiguousarray(photographs[number % 2][top : top + 40, left : left + 50])
            header = od.recordio.IRHeader(0, number % 2, number, 0)
            out.write(od.recordio.pack(header, od.image.codec.encode(part)))


def train(folder: str, epochs: int, is_resumed: bool = True, **given: Any) -> str:
    """Train, from the last checkpoint on if `is_resumed` and there is one; gives a digest of the weights."""
    od.random.seed(11)
    batches = od.io.ImageRecordIter(
        path_imgrec=os.path.join(folder, "photos.rec"),
        data_shape=(3, 24, 24),
        batch_size=BATCH,
        shuffle=True,
        seed=3,
        preprocess_threads=1 + os.getpid() % 3,
        **CHANGES,
    )
    net = od.sym.Convolution(od.sym.var("data"), kernel=(5, 5), stride=(2, 2), num_filter=6, name="conv")
    net = od.sym.Dropout(od.sym.Activation(net, act_type="relu"), p=0.3, name="dropout")
    net = od.sym.FullyConnected(od.sym.Flatten(net), num_hidden=2, name="fc")
    module = od.mod.Module(od.sym.SoftmaxOutput(net, name="softmax"))
    if is_resumed:
        given["checkpoint"] = od.callback.Checkpoint(os.path.join(folder, "net"), every_batches=EVERY, keep=2)
        given["resume"] = True
    shown = od.metric.create(["acc", "ce"])
    module.fit(
        batches,
        eval_metric=shown,
        num_epoch=epochs,
        initializer=od.init.Xavier(),
        optimizer_params={"learning_rate": 0.05, "momentum": 0.9},
        **given,
    )
    found = digest({name: array.asnumpy() for name, array in module.get_params()[0].items()})
    return f"{found} {shown.get_global_name_value()} {batches.tell()}"


if __name__ == "__main__":
    run_program(train)
