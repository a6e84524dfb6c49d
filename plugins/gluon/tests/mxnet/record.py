"""Record files that MXNet 1.9.1's Gluon writes, what it computes with them, and what it reads of operad's.

Run with a Python that has mxnet 1.9.1 and numpy 1.23: `python record.py` writes `network.json` beside this
file, which has the bytes of the files. `python record.py FOLDER` reads the files that operad has written to a
folder, and prints the outputs.
"""

import base64
import json
import sys
import tempfile
from pathlib import Path

import numpy as np


def network(gluon):
    """A small network with a state, a shared prefix and a layer whose shapes are told by the first batch."""
    net = gluon.nn.HybridSequential(prefix="net_")
    with net.name_scope():
        net.add(
            gluon.nn.Conv2D(3, 3, activation="relu"),
            gluon.nn.BatchNorm(),
            gluon.nn.MaxPool2D(),
            gluon.nn.Dense(4, activation="tanh"),
            gluon.nn.Dense(2),
        )
    return net


def data(mx):
    return mx.nd.array(np.random.RandomState(3).uniform(-1, 1, (2, 1, 6, 6)))


def trained(mx):
    """The network after three steps of training, from fixed parameters."""
    net, x = network(mx.gluon), data(mx)
    net.initialize()
    net(x)
    random = np.random.RandomState(5)
    for param in net.collect_params().values():
        param.set_data(mx.nd.array(random.uniform(0.1, 1, param.shape) - 0.5 * (param.grad_req != "null")))
    net.hybridize()
    loss = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    trainer = mx.gluon.Trainer(
        net.collect_params(), "sgd", {"learning_rate": 0.1, "momentum": 0.9, "wd": 0.01}
    )
    for _ in range(3):
        with mx.autograd.record():
            value = loss(net(x), mx.nd.array([0, 1]))
        value.backward()
        trainer.step(2)
    return net


def write(net, folder):
    """All kinds of files."""
    net.save_parameters(f"{folder}/net.params")
    net.collect_params().save(f"{folder}/prefixed.params")
    net.collect_params().save(f"{folder}/stripped.params", strip_prefix=net.prefix)
    net.export(f"{folder}/net", epoch=7)


def main():
    import mxnet as mx

    if len(sys.argv) > 1:
        folder, x = sys.argv[1], data(mx)
        for read in READERS:
            print(read(mx, folder)(x).asnumpy().round(6).tolist())
        return
    net = trained(mx)
    with tempfile.TemporaryDirectory() as folder:
        write(net, folder)
        files = {
            one.name: base64.b64encode(one.read_bytes()).decode() for one in sorted(Path(folder).iterdir())
        }
    outputs = net(data(mx)).asnumpy().round(6).tolist()
    found = {"version": mx.__version__, "outputs": outputs, "files": files}
    Path(__file__).with_name("network.json").write_text(json.dumps(found, indent=1) + "\n")


def loaded(mx, folder):
    net = network(mx.gluon)
    net.load_parameters(f"{folder}/net.params")
    return net


def loaded_by_prefix(mx, folder):
    net = network(mx.gluon)
    net.load_parameters(f"{folder}/stripped.params")
    return net


def loaded_into_a_dictionary(mx, folder):
    net = network(mx.gluon)
    net.collect_params().load(f"{folder}/prefixed.params")
    return net


def imported(mx, folder):
    return mx.gluon.SymbolBlock.imports(f"{folder}/net-symbol.json", ["data"], f"{folder}/net-0007.params")


READERS = (loaded, loaded_by_prefix, loaded_into_a_dictionary, imported)

if __name__ == "__main__":
    main()
