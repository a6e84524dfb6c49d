"""Models that other exporters made: files in the wheel of onnx, and what PyTorch and scikit-learn write."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import operad.onnx
import pytest
from onnx import numpy_helper

import operad as od
from plugins.onnx.tests.networks import evaluated
from plugins.onnx.tests.test_node_tests import outputs

pytestmark = pytest.mark.more
DATA = Path(onnx.__file__).parent / "backend" / "test" / "data"


def tensor(path: Path) -> Any:
    return numpy_helper.to_array(onnx.TensorProto.FromString(path.read_bytes()))


def check(folder: Path) -> None:
    """A folder of a model, its inputs and outputs."""
    sets = folder / "test_data_set_0"
    given, wanted = (
        [tensor(sets / f"{side}_{i}.pb") for i in range(len(list(sets.glob(f"{side}_*"))))]
        for side in ("input", "output")
    )
    model = onnx.load(folder / "model.onnx")
    known = {each.name for each in model.graph.initializer}
    names = [info.name for info in model.graph.input if info.name not in known]
    for found, want in zip(outputs(model, dict(zip(names, given, strict=True))), wanted, strict=True):
        np.testing.assert_allclose(found, want, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("kind", ["pytorch-converted", "pytorch-operator"])
def test_models_of_older_pytorch(kind: str) -> None:
    folders = sorted(path for path in (DATA / kind).glob("*") if (path / "model.onnx").exists())
    if not folders:
        pytest.skip(f"the installed onnx brings no {kind}")
    for folder in folders:
        check(folder)
    assert len(folders) > 30


@pytest.mark.parametrize(
    "name", ["squeezenet", "shufflenet", "resnet50", "inception_v1", "inception_v2", "densenet121"]
)
def test_networks_of_caffe2(name: str) -> None:
    path = DATA / "light" / f"light_{name}.onnx"
    if not path.exists():
        pytest.skip("the installed onnx brings no networks")
    model = onnx.load(path)
    known = {each.name for each in model.graph.initializer}
    (info,) = [info for info in model.graph.input if info.name not in known]
    shape = tuple(length.dim_value for length in info.type.tensor_type.shape.dim)
    array = (np.arange(np.prod(shape)) % 255).astype(np.float32).reshape(shape)
    (found,) = outputs(model, {info.name: array})
    np.testing.assert_allclose(
        found, tensor(path.with_name(f"light_{name}_output_0.pb")), rtol=1e-3, atol=1e-5
    )


def _networks() -> dict[str, tuple[Any, Any]]:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    nn = torch.nn

    class Recurrent(nn.Module):
        def __init__(self, layer: Any) -> None:
            super().__init__()
            self.layer = layer

        def forward(self, x: Any) -> Any:
            return self.layer(x)[0]

    class Attention(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.MultiheadAttention(16, 4, batch_first=True)

        def forward(self, x: Any) -> Any:
            return self.layer(x, x, x, need_weights=False)[0]

    torch.manual_seed(0)
    image, steps = torch.randn(2, 3, 16, 16), torch.randn(2, 5, 8)
    convolutions = [nn.Conv2d(3, 8, 3, 2, 1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2)]
    return {
        "dense": (
            nn.Sequential(nn.Linear(10, 20), nn.ReLU(), nn.Linear(20, 5), nn.Softmax(-1)),
            torch.randn(4, 10),
        ),
        "convolution": (
            nn.Sequential(*convolutions, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 4)),
            image,
        ),
        "transposed": (nn.Sequential(nn.Conv2d(3, 8, 3, 1, 1), nn.ConvTranspose2d(8, 4, 4, 2, 1)), image),
        "upsampled": (nn.Upsample(scale_factor=2, mode="bilinear"), image),
        "norms": (nn.Sequential(nn.GroupNorm(1, 3), nn.Hardswish(), nn.ELU(), nn.LeakyReLU(0.1)), image),
        "embedding": (
            nn.Sequential(nn.Embedding(20, 8), nn.LayerNorm(8), nn.GELU()),
            torch.randint(0, 20, (2, 7)),
        ),
        "lstm": (Recurrent(nn.LSTM(8, 12, 2, bidirectional=True, batch_first=True)), steps),
        "gru": (Recurrent(nn.GRU(8, 12, batch_first=True)), steps),
        "attention": (Attention(), torch.randn(2, 6, 16)),
    }


@pytest.mark.parametrize(
    "name",
    ["dense", "convolution", "transposed", "upsampled", "norms", "embedding", "lstm", "gru", "attention"],
)
def test_networks_of_pytorch(name: str, tmp_path: Path) -> None:
    module, array = _networks()[name]
    import torch

    path = tmp_path / "model.onnx"
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        wanted = module.eval()(array).numpy()
        torch.onnx.export(module, (array,), path, input_names=["x"], opset_version=17, dynamo=False)
    loaded = od.onnx.load(path)
    (found,) = evaluated(loaded.symbol, loaded.params, {"x": array.numpy()})
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


def _estimators() -> dict[str, tuple[Callable[[], Any], str]]:
    from sklearn.cluster import KMeans
    from sklearn.decomposition import PCA
    from sklearn.linear_model import LinearRegression
    from sklearn.neural_network import MLPRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MinMaxScaler, StandardScaler

    return {
        "network": (lambda: MLPRegressor(hidden_layer_sizes=(8,), max_iter=50, random_state=0), "predict"),
        "linear": (lambda: make_pipeline(StandardScaler(), LinearRegression()), "predict"),
        "components": (lambda: make_pipeline(StandardScaler(), PCA(2)), "transform"),
        "scaled": (MinMaxScaler, "transform"),
        "clusters": (lambda: KMeans(3, n_init=1, random_state=0), "transform"),
    }


@pytest.mark.parametrize("name", ["network", "linear", "components", "scaled", "clusters"])
def test_pipelines_of_scikit_learn(name: str) -> None:
    exporter = pytest.importorskip("skl2onnx", reason="skl2onnx is not installed")
    make, method = _estimators()[name]
    rng = np.random.default_rng(0)
    data = rng.normal(size=(60, 5)).astype(np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = make().fit(data, data @ rng.normal(size=5))
        made = exporter.to_onnx(fitted, data[:1], target_opset=17)
        wanted = getattr(fitted, method)(data)
    loaded = od.onnx.load(made.SerializeToString())
    found = evaluated(loaded.symbol, loaded.params, dict.fromkeys(loaded.inputs, data))[-1]
    np.testing.assert_allclose(found.reshape(wanted.shape), wanted, rtol=1e-4, atol=1e-4)
