"""Networks by their names."""

from __future__ import annotations

from typing import Any, Final

from operad.errors import ParamError
from operad_gluon.model_zoo.vision.alexnet import (
    alexnet,
)
from operad_gluon.model_zoo.vision.densenet import (
    densenet121,
    densenet161,
    densenet169,
    densenet201,
)
from operad_gluon.model_zoo.vision.inception import (
    inception_v3,
)
from operad_gluon.model_zoo.vision.mobilenet import (
    mobilenet0_5,
    mobilenet0_25,
    mobilenet0_75,
    mobilenet1_0,
    mobilenet_v2_0_5,
    mobilenet_v2_0_25,
    mobilenet_v2_0_75,
    mobilenet_v2_1_0,
)
from operad_gluon.model_zoo.vision.resnet import (
    resnet18_v1,
    resnet18_v2,
    resnet34_v1,
    resnet34_v2,
    resnet50_v1,
    resnet50_v2,
    resnet101_v1,
    resnet101_v2,
    resnet152_v1,
    resnet152_v2,
)
from operad_gluon.model_zoo.vision.squeezenet import (
    squeezenet1_0,
    squeezenet1_1,
)
from operad_gluon.model_zoo.vision.vgg import (
    vgg11,
    vgg11_bn,
    vgg13,
    vgg13_bn,
    vgg16,
    vgg16_bn,
    vgg19,
    vgg19_bn,
)

_MODELS: Final = {
    "resnet18_v1": resnet18_v1,
    "resnet34_v1": resnet34_v1,
    "resnet50_v1": resnet50_v1,
    "resnet101_v1": resnet101_v1,
    "resnet152_v1": resnet152_v1,
    "resnet18_v2": resnet18_v2,
    "resnet34_v2": resnet34_v2,
    "resnet50_v2": resnet50_v2,
    "resnet101_v2": resnet101_v2,
    "resnet152_v2": resnet152_v2,
    "vgg11": vgg11,
    "vgg13": vgg13,
    "vgg16": vgg16,
    "vgg19": vgg19,
    "vgg11_bn": vgg11_bn,
    "vgg13_bn": vgg13_bn,
    "vgg16_bn": vgg16_bn,
    "vgg19_bn": vgg19_bn,
    "alexnet": alexnet,
    "densenet121": densenet121,
    "densenet161": densenet161,
    "densenet169": densenet169,
    "densenet201": densenet201,
    "squeezenet1.0": squeezenet1_0,
    "squeezenet1.1": squeezenet1_1,
    "inceptionv3": inception_v3,
    "mobilenet1.0": mobilenet1_0,
    "mobilenet0.75": mobilenet0_75,
    "mobilenet0.5": mobilenet0_5,
    "mobilenet0.25": mobilenet0_25,
    "mobilenetv2_1.0": mobilenet_v2_1_0,
    "mobilenetv2_0.75": mobilenet_v2_0_75,
    "mobilenetv2_0.5": mobilenet_v2_0_5,
    "mobilenetv2_0.25": mobilenet_v2_0_25,
}


def get_model(name: str, **kwargs: Any) -> Any:
    """A network by its name, such as `resnet50_v1`.

    Args:
        name: The name, in any case.
        kwargs: `pretrained`, `ctx` and `root`, as of `get_resnet`, and what the class takes.
    Raises:
        ParamError: There is none of that name.
    """
    make: Any = _MODELS.get(name.lower())
    if make is None:
        raise ParamError(f"get_model: no model {name!r}; there are {', '.join(sorted(_MODELS))}")
    return make(**kwargs)
