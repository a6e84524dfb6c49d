"""Functions of kornia: by name an expression, a shape line, and domains of arguments where not every number will do."""

from __future__ import annotations

from typing import Final

from operad_sdk import Contract, Integers, PositiveDefinite, positive, unit_interval

PROGRAM: Final = (
    "import kornia",
    "from kornia import color, enhance, filters, geometry, losses, metrics, morphology",
)
_EACH: Final = "x:(...) -> y:(...)"
_TWO: Final = "a:(...), b:(...) -> y:(...)"
_IMAGE: Final = "x:(N, C, H, W) -> y:(N, C, H, W); N >= 1, C >= 1, H >= 3, W >= 3"
_COLOR: Final = "x:(N, 3, H, W) -> y:(N, 3, H, W); N >= 1, H >= 1, W >= 1"
_PAIR: Final = "a:(N, C, H, W), b:(N, C, H, W) -> y:(); N >= 1, C >= 1, H >= 3, W >= 3"
_EVEN: Final = "x:(N, C, 2*H, 2*W) -> y:(N, C, H, W); N >= 1, C >= 1, H >= 2, W >= 2"
_CLASSES: Final = "x:(N, 3, H, W), t:int64(N, H, W) -> y:(); N >= 1, H >= 1, W >= 1"
_POINTS: Final = "a:(N, P, 2), b:(N, P, 2), m:(N, 3, 3) -> y:(N, P); N >= 1, P >= 1"

_UNIT: Final = Contract(inputs={"x": unit_interval()})
_BOTH: Final = Contract(inputs={"a": unit_interval(), "b": unit_interval()})
_LABELS: Final = Contract(inputs={"t": Integers(0, 2)})
_SIGNS: Final = Contract(inputs={"t": Integers(0, 1)})
_MASK: Final = "torch.ones(3, 3, dtype=x.dtype)"


def _losses() -> dict[str, tuple[object, ...]]:
    robust = "charbonnier cauchy geman_mcclure welsch"
    found: dict[str, tuple[object, ...]] = {
        f"{name}_loss": (f"losses.{name}_loss(a, b, reduction='none')", _TWO) for name in robust.split()
    }
    return found | {
        "binary_focal": (
            "losses.binary_focal_loss_with_logits(a, b, alpha=0.25, reduction='none')",
            "a:(N, C, H, W), b:(N, C, H, W) -> y:(N, C, H, W); N >= 1, C >= 1, H >= 1, W >= 1", Contract(inputs={"b": unit_interval()}),
        ),
        "focal_loss": (
            "losses.focal_loss(x, t, alpha=0.5, gamma=2.0, reduction='none')",
            "x:(N, 3, H, W), t:int64(N, H, W) -> y:(N, 3, H, W); N >= 1, H >= 1, W >= 1", _LABELS,
        ),
        "dice_loss": ("losses.dice_loss(x, t)", _CLASSES, _LABELS),
        "tversky_loss": ("losses.tversky_loss(x, t, alpha=0.3, beta=0.7)", _CLASSES, _LABELS),
        "lovasz_softmax": ("losses.lovasz_softmax_loss(x, t)", _CLASSES, _LABELS),
        "lovasz_hinge": (
            "losses.lovasz_hinge_loss(x, t)", "x:(N, 1, H, W), t:int64(N, H, W) -> y:(); N >= 1, H >= 1, W >= 1", _SIGNS,
        ),
        "js_div_2d": ("losses.js_div_loss_2d(a, b)", _PAIR, _BOTH),
        "kl_div_2d": ("losses.kl_div_loss_2d(a, b)", _PAIR, _BOTH),
        "psnr_loss": ("losses.psnr_loss(a, b, 1.0)", _PAIR),
        "ssim_loss": ("losses.ssim_loss(a, b, 3)", _PAIR, _BOTH),
        "total_variation": ("losses.total_variation(x)", "x:(N, C, H, W) -> y:(N, C); N >= 1, C >= 1, H >= 2, W >= 2"),
        "depth_smoothness": (
            "losses.inverse_depth_smoothness_loss(d, x)",
            "d:(N, 1, H, W), x:(N, 3, H, W) -> y:(); N >= 1, H >= 2, W >= 2",
        ),
    }  # fmt: skip


def _colors() -> dict[str, tuple[object, ...]]:
    names = (
        "rgb_to_hsv rgb_to_hls rgb_to_lab rgb_to_luv rgb_to_xyz rgb_to_ycbcr rgb_to_yuv rgb_to_linear_rgb rgb_to_bgr "
        "hsv_to_rgb hls_to_rgb xyz_to_rgb ycbcr_to_rgb yuv_to_rgb linear_rgb_to_rgb lab_to_rgb luv_to_rgb "
        "sepia_from_rgb"
    )
    found: dict[str, tuple[object, ...]] = {
        name: (f"color.{name}(x)", _COLOR, _UNIT) for name in names.split()
    }
    gray = "x:(N, 3, H, W) -> y:(N, 1, H, W); N >= 1, H >= 1, W >= 1"
    return found | {
        name: (f"color.{name}(x)", gray, _UNIT)
        for name in ("rgb_to_grayscale", "bgr_to_grayscale", "rgb_to_y")
    }


def _images() -> dict[str, tuple[object, ...]]:
    expressions = {
        "box_blur": "filters.box_blur(x, (3, 3))",
        "gaussian_blur2d": "filters.gaussian_blur2d(x, (3, 3), (1.5, 1.5))",
        "median_blur": "filters.median_blur(x, (3, 3))",
        "sobel": "filters.sobel(x)",
        "laplacian": "filters.laplacian(x, 3)",
        "unsharp_mask": "filters.unsharp_mask(x, (3, 3), (1.5, 1.5))",
        "motion_blur": "filters.motion_blur(x, 3, 35.0, 0.5)",
        "bilateral_blur": "filters.bilateral_blur(x, (3, 3), 0.1, (1.5, 1.5))",
        "guided_blur": "filters.guided_blur(x, x, 3, 0.1)",
        "filter2d": f"filters.filter2d(x, {_MASK}[None])",
        "normalize_min_max": "enhance.normalize_min_max(x)",
        "integral_image": "enhance.integral_image(x)",
        "hflip": "geometry.hflip(x)", "vflip": "geometry.vflip(x)", "rot180": "geometry.rot180(x)",
        "rotate": "geometry.rotate(x, torch.full((x.shape[0],), 30.0, dtype=x.dtype))",
        "translate": "geometry.translate(x, torch.full((x.shape[0], 2), 0.75, dtype=x.dtype))",
        "spatial_softmax2d": "geometry.spatial_softmax2d(x)",
    }  # fmt: skip
    found: dict[str, tuple[object, ...]] = {name: (text, _IMAGE) for name, text in expressions.items()}
    names = "dilation erosion opening closing gradient top_hat bottom_hat"
    found |= {name: (f"morphology.{name}(x, {_MASK})", _IMAGE) for name in names.split()}
    enhanced = {
        "adjust_brightness": "0.25", "adjust_contrast": "1.5", "adjust_gamma": "0.5", "adjust_log": "1.0",
        "adjust_sigmoid": "0.5", "solarize": "0.5", "posterize": "3", "sharpness": "0.5",
    }  # fmt: skip
    found |= {name: (f"enhance.{name}(x, {value})", _IMAGE, _UNIT) for name, value in enhanced.items()}
    found |= {
        name: (f"enhance.{name}(x, 0.25)", _COLOR, _UNIT) for name in ("adjust_hue", "adjust_saturation")
    }
    return found | {
        "invert": ("enhance.invert(x)", _IMAGE),
        "pyrdown": ("geometry.pyrdown(x)", _EVEN),
        "blur_pool2d": ("filters.blur_pool2d(x, 3)", _EVEN),
        "max_blur_pool2d": ("filters.max_blur_pool2d(x, 3)", "x:(N, C, 4, 6) -> y:(N, C, 2, 3); N >= 1, C >= 1"),
        "spatial_gradient": (
            "filters.spatial_gradient(x)", "x:(N, C, H, W) -> y:(N, C, 2, H, W); N >= 1, C >= 1, H >= 1, W >= 1",
        ),
        "spatial_soft_argmax2d": (
            "geometry.spatial_soft_argmax2d(x)", "x:(N, C, H, W) -> y:(N, C, 2); N >= 1, C >= 1, H >= 2, W >= 2",
        ),
        "warp_affine": (
            "geometry.warp_affine(x, m, (4, 5))", "x:(N, C, H, W), m:(N, 2, 3) -> y:(N, C, 4, 5); N >= 1, C >= 1, H >= 2, W >= 2",
        ),
        "ssim": (
            "metrics.ssim(a, b, 3)",
            "a:(N, C, H, W), b:(N, C, H, W) -> y:(N, C, H, W); N >= 1, C >= 1, H >= 3, W >= 3", _BOTH,
        ),
    }  # fmt: skip


def _geometry() -> dict[str, tuple[object, ...]]:
    both = "a:(N, P, D), b:(N, P, D) -> y:(N, P); D >= 1"
    epipolar = "sampson_epipolar_distance symmetrical_epipolar_distance left_to_right_epipolar_distance"
    found: dict[str, tuple[object, ...]] = {
        name: (f"geometry.{name}(a, b, m)", _POINTS) for name in epipolar.split()
    }
    return found | {
        "cart2pol": ("geometry.cart2pol(a, b)", "a:(...), b:(...) -> r:(...), t:(...)"),
        "pol2cart": ("geometry.pol2cart(a, b)", "a:(...), b:(...) -> x:(...), y:(...)"),
        "rad2deg": ("geometry.rad2deg(x)", _EACH), "deg2rad": ("geometry.deg2rad(x)", _EACH),
        "to_homogeneous": ("geometry.convert_points_to_homogeneous(x)", "x:(N, D) -> y:(N, D + 1); D >= 1"),
        "from_homogeneous": ("geometry.convert_points_from_homogeneous(x)", "x:(N, D + 1) -> y:(N, D); D >= 1"),
        "axis_angle_to_matrix": ("geometry.axis_angle_to_rotation_matrix(x)", "x:(N, 3) -> y:(N, 3, 3)"),
        "axis_angle_to_quaternion": ("geometry.axis_angle_to_quaternion(x)", "x:(N, 3) -> y:(N, 4)"),
        "quaternion_to_axis_angle": ("geometry.quaternion_to_axis_angle(x)", "x:(N, 4) -> y:(N, 3)"),
        "quaternion_to_matrix": ("geometry.quaternion_to_rotation_matrix(x)", "x:(N, 4) -> y:(N, 3, 3)"),
        "normalize_quaternion": ("geometry.normalize_quaternion(x)", "x:(N, 4) -> y:(N, 4)"),
        "quaternion_log_to_exp": ("geometry.quaternion_log_to_exp(x)", "x:(N, 3) -> y:(N, 4)"),
        "quaternion_exp_to_log": ("geometry.quaternion_exp_to_log(x)", "x:(N, 4) -> y:(N, 3)"),
        "angle_to_matrix": ("geometry.angle_to_rotation_matrix(x)", "x:(N) -> y:(N, 2, 2)"),
        "skew_symmetric": ("geometry.vector_to_skew_symmetric_matrix(x)", "x:(N, 3) -> y:(N, 3, 3); N >= 1"),
        "euclidean_distance": ("geometry.euclidean_distance(a, b)", both),
        "batched_dot_product": ("geometry.batched_dot_product(a, b)", both),
        "transform_points": (
            "geometry.transform_points(m, a)", "m:(N, 3, 3), a:(N, P, 2) -> y:(N, P, 2); N >= 1, P >= 1",
        ),
        "point_line_distance": (
            "geometry.point_line_distance(a, b)", "a:(N, P, 2), b:(N, P, 3) -> y:(N, P); N >= 1, P >= 1",
        ),
        "solve_quadratic": ("geometry.solvers.solve_quadratic(x)", "x:(N, 3) -> y:(N, 2); N >= 1"),
        "solve_cubic": ("geometry.solvers.solve_cubic(x)", "x:(N, 4) -> y:(N, 3); N >= 1"),
        "project_points_z1": ("geometry.project_points_z1(x)", "x:(N, 3) -> y:(N, 2)"),
        "project_points": ("geometry.project_points(x, m)", "x:(N, 3), m:(N, 3, 3) -> y:(N, 2); N >= 1"),
        "normalize_pixels": ("geometry.normalize_pixel_coordinates(x, 6, 8)", "x:(N, 2) -> y:(N, 2)"),
        "denormalize_pixels": ("geometry.denormalize_pixel_coordinates(x, 6, 8)", "x:(N, 2) -> y:(N, 2)"),
        "inverse_transformation": ("geometry.inverse_transformation(x)", "x:(N, 4, 4) -> y:(N, 4, 4); N >= 1"),
        "endpoint_error": ("metrics.aepe(a, b, reduction='none')", "a:(N, P, 2), b:(N, P, 2) -> y:(N, P)"),
        "epipolar_lines": ("geometry.compute_correspond_epilines(a, m)", "a:(N, P, 2), m:(N, 3, 3) -> y:(N, P, 3); N >= 1, P >= 1"),
        "zca_whiten": ("enhance.zca_whiten(x)", "x:(N, 3) -> y:(N, 3); N >= 3"),
        "depth_from_disparity": ("geometry.depth_from_disparity(x, 2.0, 3.0)", _EACH, Contract(inputs={"x": positive()})),
        "cross_product_matrix": ("geometry.cross_product_matrix(x)", "x:(N, 3) -> y:(N, 3, 3); N >= 1"),
        "relative_transformation": (
            "geometry.relative_transformation(a, b)", "a:(N, 4, 4), b:(N, 4, 4) -> y:(N, 4, 4); N >= 1",
            Contract(inputs={"a": PositiveDefinite()}),
        ),
    }  # fmt: skip


TABLE: Final[dict[str, tuple[object, ...]]] = {**_losses(), **_colors(), **_images(), **_geometry()}
