"""Functions of optax: losses, projections and steps of its optimizers."""

from __future__ import annotations

from typing import Final

from operad_sdk import Contract, Integers, Probabilities, positive, unit_interval

PROGRAM: Final = ("import optax",)
_EACH: Final = "x:(...) -> y:(...)"
_TWO: Final = "a:(...), b:(...) -> y:(...)"
_ROWS: Final = "a:(N, D), b:(N, D) -> y:(N); N >= 1, D >= 1"
_VECTOR: Final = "x:(D) -> y:(D); D >= 1"
_LABELED: Final = "x:(N, 3), t:int64(N) -> y:(N)"

_LABELS: Final = Contract(inputs={"t": Integers(0, 2)})
_SHARES: Final = Contract(inputs={"b": Probabilities()})
_BITS: Final = Contract(inputs={"b": unit_interval()})


def _steps() -> dict[str, tuple[object, ...]]:
    """One step of an optimizer from a fresh state, as a function of a gradient and of weights."""
    made = {
        "adam": "adam(0.1)", "adamw": "adamw(0.1)", "sgd_momentum": "sgd(0.1, momentum=0.9, nesterov=True)",
        "rmsprop": "rmsprop(0.1)", "lion": "lion(0.1)",
        "clip_by_global_norm": "clip_by_global_norm(1.0)", "normalize_by_update_norm": "normalize_by_update_norm()",
    }  # fmt: skip
    call = "(lambda o: o.update(a, o.init(b), b)[0])"
    return {name: (f"{call}(optax.{text})", "a:(D), b:(D) -> y:(D); D >= 1") for name, text in made.items()}


TABLE: Final[dict[str, tuple[object, ...]]] = {
    **{name: (f"optax.losses.{name}(a, b)", _TWO) for name in ("huber_loss", "l2_loss", "log_cosh", "squared_error")},
    **{name: (f"optax.losses.{name}(a, b)", _TWO, _BITS) for name in ("sigmoid_binary_cross_entropy", "sigmoid_focal_loss")},
    **{name: (f"optax.losses.{name}(a, b)", _TWO) for name in ("hinge_loss", "perceptron_loss")},
    "sparsemax_loss": ("optax.losses.sparsemax_loss(a, b)", _TWO, _BITS),
    **{
        name: (f"optax.losses.{name}(a, b)", _ROWS, _SHARES)
        for name in ("softmax_cross_entropy", "safe_softmax_cross_entropy", "poly_loss_cross_entropy", "kl_divergence",
                     "convex_kl_divergence", "generalized_kl_divergence")
    },
    "kl_divergence_log": ("optax.losses.kl_divergence_with_log_targets(a, b)", _ROWS),
    "cosine_similarity": ("optax.losses.cosine_similarity(a, b, epsilon=1e-3)", _ROWS),
    "cosine_distance": ("optax.losses.cosine_distance(a, b, epsilon=1e-3)", _ROWS),
    "integer_cross_entropy": ("optax.losses.softmax_cross_entropy_with_integer_labels(x, t)", _LABELED, _LABELS),
    **{name: (f"optax.losses.{name}(x, t)", _LABELED, _LABELS) for name in ("multiclass_hinge_loss", "multiclass_perceptron_loss")},
    "multiclass_sparsemax": ("optax.losses.multiclass_sparsemax_loss(x, t)", _LABELED, _LABELS),
    "ranking_softmax": ("optax.losses.ranking_softmax_loss(a, b)", "a:(N, D), b:(N, D) -> y:(); N >= 1, D >= 1", _SHARES),
    "smooth_labels": ("optax.losses.smooth_labels(x, 0.1)", "x:(N, D) -> y:(N, D); D >= 1"),
    "dice_loss": ("optax.losses.binary_dice_loss(a, b)", "a:(N, D), b:(N, D) -> y:(N); N >= 1, D >= 1", _BITS),
    "triplet": ("optax.losses.triplet_margin_loss(a, p, n)", "a:(N, D), p:(N, D), n:(N, D) -> y:(N); D >= 1"),
    "projection_simplex": ("optax.projections.projection_simplex(x)", _VECTOR),
    "projection_l1_ball": ("optax.projections.projection_l1_ball(x)", _VECTOR),
    "projection_l2_ball": ("optax.projections.projection_l2_ball(x)", _VECTOR),
    "projection_linf_ball": ("optax.projections.projection_linf_ball(x)", _VECTOR),
    "projection_non_negative": ("optax.projections.projection_non_negative(x)", _EACH),
    "projection_box": ("optax.projections.projection_box(x, -1.0, 1.0)", _EACH),
    "projection_hypercube": ("optax.projections.projection_hypercube(x)", _EACH),
    "projection_halfspace": ("optax.projections.projection_halfspace(a, b, 1.0)", "a:(D), b:(D) -> y:(D); D >= 1", Contract(inputs={"b": positive()})),
    "projection_l2_sphere": ("optax.projections.projection_l2_sphere(x)", _VECTOR, Contract(inputs={"x": positive()})),
    **_steps(),
}  # fmt: skip
