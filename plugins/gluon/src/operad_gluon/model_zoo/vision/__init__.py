"""`gluon.model_zoo.vision`: networks that classify images."""

from typing import Any, Final

from operad.errors import ParamError
from operad_gluon.model_zoo.vision.alexnet import AlexNet as AlexNet
from operad_gluon.model_zoo.vision.alexnet import alexnet as alexnet
from operad_gluon.model_zoo.vision.densenet import DenseNet as DenseNet
from operad_gluon.model_zoo.vision.densenet import densenet121 as densenet121
from operad_gluon.model_zoo.vision.densenet import densenet161 as densenet161
from operad_gluon.model_zoo.vision.densenet import densenet169 as densenet169
from operad_gluon.model_zoo.vision.densenet import densenet201 as densenet201
from operad_gluon.model_zoo.vision.inception import Inception3 as Inception3
from operad_gluon.model_zoo.vision.inception import inception_v3 as inception_v3
from operad_gluon.model_zoo.vision.mobilenet import MobileNet as MobileNet
from operad_gluon.model_zoo.vision.mobilenet import MobileNetV2 as MobileNetV2
from operad_gluon.model_zoo.vision.mobilenet import get_mobilenet as get_mobilenet
from operad_gluon.model_zoo.vision.mobilenet import get_mobilenet_v2 as get_mobilenet_v2
from operad_gluon.model_zoo.vision.mobilenet import mobilenet0_5 as mobilenet0_5
from operad_gluon.model_zoo.vision.mobilenet import mobilenet0_25 as mobilenet0_25
from operad_gluon.model_zoo.vision.mobilenet import mobilenet0_75 as mobilenet0_75
from operad_gluon.model_zoo.vision.mobilenet import mobilenet1_0 as mobilenet1_0
from operad_gluon.model_zoo.vision.mobilenet import mobilenet_v2_0_5 as mobilenet_v2_0_5
from operad_gluon.model_zoo.vision.mobilenet import mobilenet_v2_0_25 as mobilenet_v2_0_25
from operad_gluon.model_zoo.vision.mobilenet import mobilenet_v2_0_75 as mobilenet_v2_0_75
from operad_gluon.model_zoo.vision.mobilenet import mobilenet_v2_1_0 as mobilenet_v2_1_0
from operad_gluon.model_zoo.vision.resnet import BasicBlockV1 as BasicBlockV1
from operad_gluon.model_zoo.vision.resnet import BasicBlockV2 as BasicBlockV2
from operad_gluon.model_zoo.vision.resnet import BottleneckV1 as BottleneckV1
from operad_gluon.model_zoo.vision.resnet import BottleneckV2 as BottleneckV2
from operad_gluon.model_zoo.vision.resnet import ResNetV1 as ResNetV1
from operad_gluon.model_zoo.vision.resnet import ResNetV2 as ResNetV2
from operad_gluon.model_zoo.vision.resnet import get_resnet as get_resnet
from operad_gluon.model_zoo.vision.resnet import resnet18_v1 as resnet18_v1
from operad_gluon.model_zoo.vision.resnet import resnet18_v2 as resnet18_v2
from operad_gluon.model_zoo.vision.resnet import resnet34_v1 as resnet34_v1
from operad_gluon.model_zoo.vision.resnet import resnet34_v2 as resnet34_v2
from operad_gluon.model_zoo.vision.resnet import resnet50_v1 as resnet50_v1
from operad_gluon.model_zoo.vision.resnet import resnet50_v2 as resnet50_v2
from operad_gluon.model_zoo.vision.resnet import resnet101_v1 as resnet101_v1
from operad_gluon.model_zoo.vision.resnet import resnet101_v2 as resnet101_v2
from operad_gluon.model_zoo.vision.resnet import resnet152_v1 as resnet152_v1
from operad_gluon.model_zoo.vision.resnet import resnet152_v2 as resnet152_v2
from operad_gluon.model_zoo.vision.squeezenet import SqueezeNet as SqueezeNet
from operad_gluon.model_zoo.vision.squeezenet import squeezenet1_0 as squeezenet1_0
from operad_gluon.model_zoo.vision.squeezenet import squeezenet1_1 as squeezenet1_1
from operad_gluon.model_zoo.vision.vgg import VGG as VGG
from operad_gluon.model_zoo.vision.vgg import get_vgg as get_vgg
from operad_gluon.model_zoo.vision.vgg import vgg11 as vgg11
from operad_gluon.model_zoo.vision.vgg import vgg11_bn as vgg11_bn
from operad_gluon.model_zoo.vision.vgg import vgg13 as vgg13
from operad_gluon.model_zoo.vision.vgg import vgg13_bn as vgg13_bn
from operad_gluon.model_zoo.vision.vgg import vgg16 as vgg16
from operad_gluon.model_zoo.vision.vgg import vgg16_bn as vgg16_bn
from operad_gluon.model_zoo.vision.vgg import vgg19 as vgg19
from operad_gluon.model_zoo.vision.vgg import vgg19_bn as vgg19_bn

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
