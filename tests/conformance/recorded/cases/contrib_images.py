"""Cases of images as arrays: tensors, parts, sizes, mirror images, colours."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.conformance.recorded.case import Case, exactly, integers, normal, uniform


def resized() -> Iterator[Case]:
    """Bilinear interpolation of batches with channels first."""
    op = "_contrib_BilinearResize2D"
    rows: list[tuple[str, dict[str, Any]]] = [
        ("larger", {"height": 5, "width": 7}),
        ("smaller", {"height": 2, "width": 3}),
        ("one_pixel", {"height": 1, "width": 1}),
        ("centres", {"height": 5, "width": 3, "align_corners": False}),
        ("scales", {"scale_height": 1.5, "scale_width": 0.5}),
        ("odd_scale", {"mode": "odd_scale", "scale_height": 1.5, "scale_width": 2.0}),
        *((mode, {"mode": mode}) for mode in ("to_even_down", "to_even_up", "to_odd_down", "to_odd_up")),
    ]
    for name, params in rows:
        yield Case(op, name, (normal(2, 2, 3, 4),), params)
    yield Case(op, "same", (normal(1, 2, 3, 3),), {"height": 3, "width": 3})
    yield Case(op, "like", (normal(1, 2, 3, 4), normal(1, 1, 5, 2)), {"mode": "like"}, grad=(0,))
    yield Case(op, "float64", (normal(1, 2, 3, 4, dtype="float64"),), {"height": 5, "width": 5})


def tensors() -> Iterator[Case]:
    """Images as networks want them."""
    for name, recipe in (
        ("bytes", integers(3, 4, 3, low=0, high=256, dtype="uint8")),
        ("batch", integers(2, 3, 4, 1, low=0, high=256, dtype="uint8")),
        ("float32", uniform(3, 4, 3, low=0.0, high=255.0)),
    ):
        yield Case("_image_to_tensor", name, (recipe,), grad=())
    colours: dict[str, Any] = {"mean": (0.1, 0.2, 0.3), "std": (0.5, 0.25, 2.0)}
    yield Case("_image_normalize", "refused_defaults", (normal(3, 2, 4),))
    yield Case("_image_normalize", "per_channel", (normal(3, 2, 4),), colours)
    yield Case("_image_normalize", "batch", (normal(2, 3, 2, 4),), colours)
    yield Case("_image_normalize", "one_number", (normal(3, 2, 4),), {"mean": (0.5,), "std": (2.0,)})


def geometry() -> Iterator[Case]:
    """Parts, sizes and mirror images."""
    part = {"x": 1, "y": 0, "width": 2, "height": 3}
    yield Case("_image_crop", "defaults", (normal(4, 5, 3),), part)
    yield Case("_image_crop", "batch", (normal(2, 4, 5, 1),), part)
    yield Case("_image_crop", "bytes", (integers(4, 5, 3, low=0, high=256, dtype="uint8"),), part, grad=())
    yield Case("_image_crop", "refused_outside", (normal(4, 5, 3),), {**part, "x": 4}, grad=())
    for way in ("left_right", "top_bottom"):
        yield Case(f"_image_flip_{way}", "defaults", (normal(4, 4, 3),), grad=())
        yield Case(f"_image_flip_{way}", "gray", (normal(4, 4, 1),), grad=())
        yield Case(f"_image_flip_{way}", "refused_batch", (normal(2, 3, 4, 1),), grad=())
        for p in (0.0, 1.0):
            name = "always" if p else "never"
            yield Case(f"_image_random_flip_{way}", name, (normal(4, 4, 3),), {"p": p}, grad=())
    sizes: list[tuple[str, dict[str, Any]]] = [
        ("defaults", {"size": (3, 2)}),
        ("one_number", {"size": (3,)}),
        ("keep_ratio", {"size": (3,), "keep_ratio": True}),
        ("larger", {"size": (9, 7)}),
        ("nearest", {"size": (3, 7), "interp": 0}),
        ("cubic", {"size": (9, 7), "interp": 2}),
        ("area", {"size": (3, 2), "interp": 3}),
        ("area_of_larger", {"size": (9, 7), "interp": 3}),
        ("lanczos", {"size": (9, 7), "interp": 4}),
    ]
    for name, params in sizes:
        image = uniform(4, 5, 3, low=0.0, high=255.0)
        yield Case("_image_resize", name, (image,), params, grad=(), rtol=1e-4, atol=1e-2)
    pixels = integers(4, 4, 3, low=0, high=256, dtype="uint8")
    yield Case("_image_resize", "bytes", (pixels,), {"size": (2, 2)}, grad=())
    yield Case(
        "_image_resize", "batch", (uniform(2, 4, 5, 1, low=0.0, high=255.0),), {"size": (3, 2)}, grad=()
    )


def colours() -> Iterator[Case]:
    """Colours that change by a factor that is known, because both ends are the same."""
    for name in ("brightness", "contrast", "saturation", "hue"):
        op = f"_image_random_{name}"
        for factor in (0.0, 0.5, 0.9, 1.25):
            params = {"min_factor": factor, "max_factor": factor}
            label = str(factor).replace(".", "_")
            image = uniform(3, 4, 3, low=0.0, high=200.0)
            yield Case(op, f"factor_{label}", (image,), params, grad=(), rtol=1e-3, atol=2e-2)
        bytes_ = integers(3, 4, 3, low=0, high=256, dtype="uint8")
        if name != "hue":
            yield Case(op, "bytes", (bytes_,), {"min_factor": 1.25, "max_factor": 1.25}, grad=())
        gray = uniform(3, 4, 1, low=0.0, high=200.0)
        yield Case(op, "gray", (gray,), {"min_factor": 0.5, "max_factor": 0.5}, grad=(), rtol=1e-4, atol=1e-2)
    amounts = {"alpha": (0.1, -0.2, 0.3)}
    yield Case(
        "_image_adjust_lighting", "defaults", (uniform(3, 4, 3, low=0.0, high=200.0),), amounts, grad=()
    )
    pixels = integers(3, 4, 3, low=0, high=256, dtype="uint8")
    yield Case("_image_adjust_lighting", "bytes", (pixels,), amounts, grad=())
    still = {"brightness": 0.0, "contrast": 0.0, "saturation": 0.0, "hue": 0.0}
    image = exactly([[[10.0, 20.0, 30.0]]])
    yield Case("_image_random_color_jitter", "still", (image,), still, grad=(), rtol=1e-3, atol=1e-2)
    yield Case("_image_random_lighting", "still", (image,), {"alpha_std": 0.0}, grad=())


CASES: list[Case] = [*resized(), *tensors(), *geometry(), *colours()]
