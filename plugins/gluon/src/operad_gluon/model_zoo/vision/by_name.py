"""Networks by their names."""

from __future__ import annotations

from typing import Any, Final

from operad.errors import ParamError
from operad_gluon.model_zoo.vision.alexnet import alexnet
from operad_gluon.model_zoo.vision.densenet import DENSENETS
from operad_gluon.model_zoo.vision.inception import inception_v3
from operad_gluon.model_zoo.vision.mobilenet import MOBILENETS, MOBILENETS_V2
from operad_gluon.model_zoo.vision.resnet import RESNETS
from operad_gluon.model_zoo.vision.squeezenet import squeezenet1_0, squeezenet1_1
from operad_gluon.model_zoo.vision.vgg import VGGS

_MODELS: Final[dict[str, Any]] = {
    "alexnet": alexnet, "inceptionv3": inception_v3, "squeezenet1.0": squeezenet1_0,
    "squeezenet1.1": squeezenet1_1, **RESNETS, **VGGS, **DENSENETS, **MOBILENETS, **MOBILENETS_V2,
}  # fmt: skip


def get_model(name: str, **kwargs: Any) -> Any:
    """A network by its name, such as `resnet50_v1`.

    Args:
        name: The name, in any case.
        kwargs: `pretrained`, `ctx` and `root`, as of `get_resnet`, and what the class takes.
    Raises:
        ParamError: There is none of that name.
    """
    make = _MODELS.get(name.lower())
    if make is None:
        raise ParamError(f"get_model: no model {name!r}; there are {', '.join(sorted(_MODELS))}")
    return make(**kwargs)
