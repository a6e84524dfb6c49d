"""Weights and letters of `examples/gpt.py`'s network, the same for every library.

Like everything that a worker imports, it needs NumPy alone.
"""

from __future__ import annotations

from typing import Final

import numpy as np

LETTERS: Final = 96
LAYERS: Final = 4
WIDTH: Final = 256
HEADS: Final = 4
STEPS: Final = 256
BATCH: Final = 8
DECODED: Final = 128
"""Letters that decoding takes in turn, from an empty cache."""
EPSILON: Final = 1e-6
RATE: Final = 0.001
BETAS: Final = (0.9, 0.999)
ADAM_EPSILON: Final = 1e-8


def shapes(letters: int = LETTERS) -> dict[str, tuple[int, ...]]:
    """Of each parameter, by the example's name."""
    found: dict[str, tuple[int, ...]] = {"embedding_weight": (letters, WIDTH)}
    for layer in range(LAYERS):
        mix, unit = f"layer{layer}_mix", f"layer{layer}_unit"
        found |= {
            f"{mix}_norm_weight": (WIDTH,),
            f"{mix}_qkv_weight": (3 * WIDTH, WIDTH),
            f"{mix}_projection_weight": (WIDTH, WIDTH),
            f"{unit}_norm_weight": (WIDTH,),
            f"{unit}_gate_weight": (2 * WIDTH, WIDTH),
            f"{unit}_value_weight": (2 * WIDTH, WIDTH),
            f"{unit}_down_weight": (WIDTH, 2 * WIDTH),
        }
    return {**found, "norm_weight": (WIDTH,), "scores_weight": (letters, WIDTH)}


def parameters() -> dict[str, np.ndarray]:
    """Values by name."""
    rng = np.random.RandomState(0)
    return {
        name: np.ones(shape, np.float32) if len(shape) == 1
        else (rng.standard_normal(shape) / np.sqrt(shape[-1])).astype(np.float32)
        for name, shape in shapes().items()
    }  # fmt: skip


def batch() -> tuple[np.ndarray, np.ndarray]:
    """Letters and those that follow them, (BATCH, STEPS) each."""
    letters = np.random.RandomState(1).randint(0, LETTERS, (BATCH, STEPS + 1))
    return letters[:, :-1], letters[:, 1:]


def angles() -> tuple[np.ndarray, np.ndarray]:
    """Cosines and sines of rotary embedding, (STEPS, half of a head's width) each."""
    width = WIDTH // HEADS
    turns = np.outer(np.arange(STEPS), 10000.0 ** (-np.arange(0, width, 2) / width))
    return np.cos(turns).astype(np.float32), np.sin(turns).astype(np.float32)
