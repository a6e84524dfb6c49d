"""The models that are recorded."""

from __future__ import annotations

from typing import Final

from tests.conformance.models.model import Model, Recipe, boxes, classes, uniform
from tests.conformance.models.networks.classifiers import lenet, mlp, vgg11
from tests.conformance.models.networks.detection import CLASSES, detector
from tests.conformance.models.networks.normalized import inception_bn, resnet20
from tests.conformance.models.networks.recurrent import BATCH, HIDDEN, STEPS, WORDS, lstm_fused, lstm_unrolled


def _labelled(*data: int) -> dict[str, Recipe]:
    return {"data": uniform(*data), "softmax_label": classes(10, data[0])}


_SENTENCES: Final = {"data": classes(WORDS, BATCH, STEPS), "softmax_label": classes(WORDS, BATCH, STEPS)}
_STATES: Final = {f"lstm_{name}": uniform(4, BATCH, HIDDEN) for name in ("state", "state_cell")}

_MODELS: Final = (
    Model("mlp", mlp, _labelled(8, 100)),
    Model("lenet", lenet, _labelled(4, 1, 28, 28)),
    Model("vgg11", vgg11, _labelled(2, 3, 32, 32)),
    Model("resnet20", resnet20, _labelled(2, 3, 32, 32), draw=4),
    Model("inception_bn", inception_bn, _labelled(2, 3, 32, 32), draw=12),
    Model("lstm_unrolled", lstm_unrolled, _SENTENCES),
    Model("lstm_fused", lstm_fused, _SENTENCES | _STATES),
    Model("detector", detector, {"data": uniform(2, 3, 64, 64), "label": boxes(2, 4, CLASSES)}),
)
MODELS: Final = {model.name: model for model in _MODELS}
