"""Settings that change pixels in every way that the augmenters know."""

from __future__ import annotations

from typing import Any

ALL: dict[str, Any] = {
    "mean": True,
    "std": True,
    "brightness": 0.1,
    "contrast": 0.1,
    "saturation": 0.1,
    "hue": 0.1,
    "pca_noise": 0.1,
}
