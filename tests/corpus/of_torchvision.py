"""Functions of torchvision that are written in Python; its compiled operators need a build for the same PyTorch."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any, Final

from operad_sdk import Contract, positive, unit_interval


def _declare_compiled() -> Any:
    """Declare the operators that torchvision's import asks for, where its compiled part is for another PyTorch."""
    if find_spec("torchvision") is None:
        return None
    import torch  # where it is installed

    try:
        import torchvision  # noqa: F401 - whether it can be imported is the question
    except RuntimeError:
        made = torch.library.Library("torchvision", "DEF")
        for name in ("nms", "qnms"):
            made.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        return made
    return None


_DECLARED: Final = _declare_compiled()

PROGRAM: Final = (
    "import torchvision",
    "import torchvision.transforms.functional as vision",
    "from torchvision import ops",
)
_PAIR: Final = "a:(N, 4), b:(N, 4) -> y:(N); N >= 1"
_TABLE: Final = "a:(N, 4), b:(M, 4) -> y:(N, M); N >= 1, M >= 1"
_IMAGE: Final = "x:(C, H, W) -> y:(C, H, W); C >= 1, H >= 2, W >= 2"
_COLOR: Final = "x:(3, H, W) -> y:(3, H, W); H >= 3, W >= 3"
_UNIT: Final = Contract(inputs={"x": unit_interval()})
_SIZES: Final = Contract(inputs={"a": positive(), "b": positive()})
_CORNERS: Final = "torch.cat(({0}[..., :2], {0}[..., :2] + {0}[..., 2:]), -1)"
_BOXES: Final = f"{_CORNERS.format('a')}, {_CORNERS.format('b')}"
"""Boxes by two corners, of arguments that are a corner and lengths above zero."""

_COLORS: Final = {
    "adjust_brightness": "1.5", "adjust_contrast": "1.5", "adjust_saturation": "1.5", "adjust_hue": "0.25",
    "adjust_gamma": "0.5", "adjust_sharpness": "1.5", "solarize": "0.5",
}  # fmt: skip

TABLE: Final[dict[str, tuple[object, ...]]] = {
    "sigmoid_focal_loss": (
        "ops.sigmoid_focal_loss(a, b)", "a:(N, D), b:(N, D) -> y:(N, D)", Contract(inputs={"b": unit_interval()}),
    ),
    **{
        f"{name}_box_iou_loss": (f"ops.{name}_box_iou_loss({_BOXES})", _PAIR, _SIZES)
        for name in ("generalized", "distance", "complete")
    },
    "box_iou": (f"ops.box_iou({_BOXES})", _TABLE, _SIZES),
    **{
        f"{name}_box_iou": (f"ops.{name}_box_iou({_BOXES})", _TABLE, _SIZES)
        for name in ("generalized", "distance", "complete")
    },
    "box_area": ("ops.box_area(x)", "x:(N, 4) -> y:(N)"),
    **{
        f"{one}_to_{other}": (f"ops.box_convert(x, {one!r}, {other!r})", "x:(N, 4) -> y:(N, 4)")
        for one, other in (("xyxy", "cxcywh"), ("cxcywh", "xyxy"), ("xywh", "xyxy"), ("xyxy", "xywh"))
    },
    "clip_boxes": ("ops.clip_boxes_to_image(x, (1, 1))", "x:(N, 4) -> y:(N, 4)"),
    "frozen_batch_norm": (
        "ops.FrozenBatchNorm2d(2)(x)", "x:(N, 2, H, W) -> y:(N, 2, H, W); N >= 1", Contract(dtypes=["float32"]),
    ),
    "permute": ("ops.Permute([0, 2, 1])(x)", "x:(N, K, M) -> y:(N, M, K)"),
    "rgb_to_grayscale": ("vision.rgb_to_grayscale(x)", "x:(3, H, W) -> y:(1, H, W); H >= 1, W >= 1", _UNIT),
    **{name: (f"vision.{name}(x, {value})", _COLOR, _UNIT) for name, value in _COLORS.items()},
    "autocontrast": ("vision.autocontrast(x)", _COLOR, _UNIT),
    "invert": ("vision.invert(x)", _COLOR, _UNIT),
    "hflip": ("vision.hflip(x)", _IMAGE), "vflip": ("vision.vflip(x)", _IMAGE),
    "normalize": ("vision.normalize(x, [0.5, 0.25, 0.5], [0.5, 0.25, 2.0])", _COLOR),
    "gaussian_blur": ("vision.gaussian_blur(x, [3, 3], [1.5, 1.5])", _COLOR),
    "resize": ("vision.resize(x, [4, 6], antialias=False)", "x:(C, H, W) -> y:(C, 4, 6); C >= 1, H >= 1, W >= 1"),
    "pad_reflect": ("vision.pad(x, [1, 1], padding_mode='reflect')", "x:(C, H, W) -> y:(C, H + 2, W + 2); C >= 1, H >= 2, W >= 2"),
    "rotate": ("vision.rotate(x, 90.0)", "x:(C, H, H) -> y:(C, H, H); C >= 1, H >= 2"),
    "affine": ("vision.affine(x, 30.0, [1, 0], 0.75, [5.0, 0.0])", _IMAGE),
    "center_crop": ("vision.center_crop(x, [2, 2])", "x:(C, H, W) -> y:(C, 2, 2); C >= 1, H >= 2, W >= 2"),
}  # fmt: skip
