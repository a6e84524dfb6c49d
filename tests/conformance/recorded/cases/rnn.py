"""Cases of RNN."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.conformance.recorded.case import Case, Recipe, exactly, normal

GATES = {"rnn_relu": 1, "rnn_tanh": 1, "lstm": 4, "gru": 3}
LENGTH, BATCH, FEATURES, HIDDEN = 3, 2, 3, 2


def parameter_count(
    mode: str, features: int, hidden: int, num_layers: int, directions: int, projection: int | None
) -> int:
    """Elements of the one vector that holds all weights and then all biases."""
    gates = GATES[mode] * hidden
    recurrent = projection or hidden
    size = 0
    for layer in range(num_layers):
        inputs = features if layer == 0 else recurrent * directions
        size += directions * (gates * (inputs + recurrent) + 2 * gates)
        size += directions * (projection * hidden if projection else 0)
    return size


def rnn(
    name: str,
    mode: str,
    *,
    length: int = LENGTH,
    batch: int = BATCH,
    features: int = FEATURES,
    hidden: int = HIDDEN,
    num_layers: int = 1,
    dtype: str = "float32",
    lengths: Recipe | None = None,
    compare: str = "values",
    is_train: bool = True,
    **params: Any,
) -> Case:
    """A network over data of (length, batch, features)."""
    directions = 2 if params.get("bidirectional") else 1
    projection = params.get("projection_size")
    size = parameter_count(mode, features, hidden, num_layers, directions, projection)
    layers = num_layers * directions
    inputs = [
        normal(length, batch, features, dtype=dtype),
        normal(size, mean=0.1, scale=0.5, dtype=dtype),
        normal(layers, batch, projection or hidden, dtype=dtype),
    ]
    if mode == "lstm":
        inputs.append(normal(layers, batch, hidden, dtype=dtype))
    grad = () if projection else tuple(range(len(inputs)))  # MXNet trains no projection on a CPU
    if lengths is not None:
        inputs.append(lengths)
        params["use_sequence_length"] = True
    params = {"mode": mode, "state_size": hidden, "num_layers": num_layers, **params}
    return Case("RNN", name, inputs, params, grad=grad, compare=compare, is_train=is_train)


def every_mode() -> Iterator[Case]:
    """Each cell in each arrangement."""
    arrangements: list[tuple[str, dict[str, Any]]] = [
        ("plain", {}),
        ("state_outputs", {"state_outputs": True}),
        ("two_layers", {"num_layers": 2, "state_outputs": True}),
        ("three_layers", {"num_layers": 3}),
        ("bidirectional", {"bidirectional": True, "state_outputs": True}),
        ("bidirectional_two_layers", {"bidirectional": True, "num_layers": 2, "state_outputs": True}),
        ("one_step", {"length": 1, "state_outputs": True}),
        ("one_sample", {"batch": 1}),
        ("one_feature", {"features": 1}),
        ("one_unit", {"hidden": 1, "state_outputs": True}),
        ("more_units_than_features", {"hidden": 5, "features": 2}),
        ("float64", {"dtype": "float64", "state_outputs": True}),
        ("float64_bidirectional_two_layers", {"dtype": "float64", "bidirectional": True, "num_layers": 2}),
        ("predicts", {"is_train": False, "state_outputs": True}),
        ("predicts_with_p", {"is_train": False, "p": 0.5, "num_layers": 2}),
        ("p_in_one_layer", {"p": 0.5}),
        ("p_between_layers", {"p": 0.5, "num_layers": 2, "compare": "shapes"}),
    ]
    for mode in GATES:
        for name, options in arrangements:
            yield rnn(f"{mode}_{name}", mode, **options)


CASES: list[Case] = [
    *every_mode(),
    rnn("lstm_clips_state", "lstm", state_outputs=True, lstm_state_clip_min=-0.2, lstm_state_clip_max=0.2),
    rnn(
        "lstm_clips_nan", "lstm", lstm_state_clip_min=-1.0, lstm_state_clip_max=1.0, lstm_state_clip_nan=True
    ),
    rnn("lstm_projection", "lstm", hidden=3, projection_size=2, state_outputs=True, is_train=False),
    rnn(
        "lstm_projection_two_layers",
        "lstm",
        hidden=3,
        projection_size=1,
        num_layers=2,
        state_outputs=True,
        is_train=False,
    ),
    rnn(
        "lstm_projection_bidirectional",
        "lstm",
        hidden=3,
        projection_size=2,
        bidirectional=True,
        num_layers=2,
        state_outputs=True,
        is_train=False,
    ),
    rnn("refused_projection_in_training", "lstm", hidden=3, projection_size=2),
    *(
        rnn(f"{mode}_sequence_length", mode, lengths=exactly([3, 1], "int32"), state_outputs=True)
        for mode in ("lstm", "gru")
    ),
    rnn("refused_float16", "lstm", dtype="float16"),
    rnn("lstm_bidirectional_sequence_length", "lstm", lengths=exactly([2, 3], "int32"), bidirectional=True),
    Case(
        "RNN",
        "refused_parameters_of_another_length",
        (normal(2, 1, 3), normal(5), normal(1, 1, 2)),
        {"mode": "rnn_tanh", "state_size": 2, "num_layers": 1},
    ),
]
