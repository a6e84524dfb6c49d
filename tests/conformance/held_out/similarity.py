"""Embeddings, boxes, choices: what is near what, where something is, what to do."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.conformance.held_out.learning import (
    Data,
    cross_entropy,
    dense,
    draws,
    fitted,
    outputs,
    program,
    squared,
)
from tests.conformance.held_out.sequences import LETTERS, windows


def _ratings(data: Data) -> tuple[Any, Any, Any, int]:
    """Pixels as ratings of places by pictures: which picture, which place, how bright; and where to cut."""
    pictures = data["digits"][:40]
    at = draws("ratings").permutation(pictures.size)
    picture, place = np.unravel_index(at, pictures.shape)
    return picture, place, pictures[picture, place], pictures.size * 4 // 5


@program
def matrix_factorization(mx: Any, data: Data) -> float:
    """Koren and others, 2009: a rating is a product of two vectors, and what each side gives alone."""
    picture, place, rating, cut = _ratings(data)
    vectors, alone = [], []
    for name, count in (("picture", 40), ("place", 64)):
        number, how = mx.sym.var(name), {"input_dim": count}
        vectors.append(mx.sym.Embedding(number, output_dim=6, name=f"{name}_vector", **how))
        alone.append(mx.sym.Embedding(number, output_dim=1, name=f"{name}_alone", **how))
    score = mx.sym.sum(vectors[0] * vectors[1], axis=1, keepdims=True) + alone[0] + alone[1]
    net = mx.sym.LinearRegressionOutput(score, name="out")
    train = {"picture": picture[:cut], "place": place[:cut]}
    module = fitted(mx, net, train, {"out_label": rating[:cut, None]}, 5, learning_rate=0.02)
    return squared(outputs(mx, module, {"picture": picture[cut:], "place": place[cut:]})[0], rating[cut:])


@program
def neural_recommender(mx: Any, data: Data) -> float:
    """He and others, 2017: layers in place of the product."""
    picture, place, rating, cut = _ratings(data)
    sides = [("picture", 40), ("place", 64)]
    joined = mx.sym.concat(
        *(mx.sym.Embedding(mx.sym.var(n), input_dim=k, output_dim=8, name=n) for n, k in sides), dim=1
    )
    net = mx.sym.LinearRegressionOutput(dense(mx, joined, 16, 1), name="out")
    train = {"picture": picture[:cut], "place": place[:cut]}
    module = fitted(mx, net, train, {"out_label": rating[:cut, None]}, 4, learning_rate=0.01)
    return squared(outputs(mx, module, {"picture": picture[cut:], "place": place[cut:]})[0], rating[cut:])


@program
def noise_contrastive(mx: Any, data: Data) -> float:
    """Mnih and Teh, 2012: the next letter against four that were drawn; the loss is that of all letters."""
    train, held = windows(data, 3)

    def given(rows: Any) -> dict[str, Any]:
        noise = draws("noise letters").randint(0, LETTERS, (len(rows), 4))
        return {"context": rows[:, :3], "candidates": np.concatenate([rows[:, 3:], noise], 1)}

    context = mx.sym.Embedding(mx.sym.var("context"), input_dim=LETTERS, output_dim=8, name="context")
    hidden = mx.sym.tanh(dense(mx, mx.sym.Flatten(context), 16, name="hidden"))
    table = mx.sym.var("table_weight", shape=(LETTERS, 16))
    how = {"input_dim": LETTERS, "output_dim": 16}
    candidates = mx.sym.Embedding(mx.sym.var("candidates"), weight=table, **how)
    scores = mx.sym.sum(mx.sym.broadcast_mul(mx.sym.expand_dims(hidden, axis=1), candidates), axis=2)
    every = mx.sym.BlockGrad(mx.sym.softmax(mx.sym.dot(hidden, table, transpose_b=True)))
    net = mx.sym.Group([mx.sym.LogisticRegressionOutput(scores, mx.sym.var("real")), every])
    real = np.zeros((len(train), 5), np.float32)
    real[:, 0] = 1
    module = fitted(mx, net, given(train), {"real": real}, 6, learning_rate=0.01)
    return cross_entropy(outputs(mx, module, given(held))[1], held[:, 3])


def _towers(mx: Any, *names: str) -> list[Any]:
    """Networks over several inputs, with one set of weights."""
    nets = [mx.sym.var(name) for name in names]
    for number, size in enumerate((32, 8)):
        shared = [mx.sym.var(f"tower{number}_{kind}") for kind in ("weight", "bias")]
        nets = [mx.sym.tanh(mx.sym.FullyConnected(net, *shared, num_hidden=size)) for net in nets]
    return nets


@program
def siamese_towers(mx: Any, data: Data) -> float:
    """Hadsell and others, 2006: two digits of a class come near, of two classes apart."""
    given = [_pairs(*way("digits", "digits_target")) for way in (data.train, data.held_out)]
    left, right = _towers(mx, "left", "right")
    distance = mx.sym.sum(mx.sym.square(left - right), axis=1)
    same = mx.sym.var("same")
    apart = mx.sym.square(mx.sym.relu(1 - mx.sym.sqrt(distance + 1e-6)))
    net = mx.sym.Group([mx.sym.MakeLoss(same * distance + (1 - same) * apart), mx.sym.BlockGrad(distance)])
    module = fitted(mx, net, given[0][0], {"same": given[0][1]}, 6, learning_rate=0.005)
    found, wanted = outputs(mx, module, given[1][0])[1], given[1][1]
    return float((wanted * found + (1 - wanted) * np.square(np.maximum(0, 1 - np.sqrt(found)))).mean())


def _pairs(pixels: Any, classes: Any) -> tuple[dict[str, Any], Any]:
    order = np.argsort(classes, kind="stable")
    other = np.where(draws("pairs").uniform(size=len(order)) < 0.5, np.roll(order, 1), np.roll(order, 77))
    mixed = draws("mixed").permutation(len(order))
    left, right = order[mixed], other[mixed]
    return {"left": pixels[left], "right": pixels[right]}, (classes[left] == classes[right]).astype(
        np.float32
    )


@program
def triplets(mx: Any, data: Data) -> float:
    """Schroff and others, 2015: nearer to a digit of the class than to one of another."""
    given = []
    for pixels, classes in (data.train("digits", "digits_target"), data.held_out("digits", "digits_target")):
        order = np.argsort(classes, kind="stable")
        order = order[draws("triplets").permutation(len(order))]
        groups = {one: order[classes[order] == one] for one in range(10)}
        near = np.array([groups[int(classes[at])][0] for at in order])
        far = np.array([groups[(int(classes[at]) + 3) % 10][1] for at in order])
        given.append({"anchor": pixels[order], "near": pixels[near], "far": pixels[far]})
    anchor, near, far = _towers(mx, "anchor", "near", "far")
    apart = mx.sym.sum(mx.sym.square(anchor - near) - mx.sym.square(anchor - far), axis=1)
    module = fitted(mx, mx.sym.MakeLoss(mx.sym.relu(apart + 1.0)), given[0], None, 5, learning_rate=0.005)
    return float(outputs(mx, module, given[1])[0].mean())


@program
def detection_head(mx: Any, data: Data) -> float:
    """Liu and others, 2016: anchors over a canvas with a digit somewhere; classes and offsets of boxes."""
    parts = []
    for name, way in (("train", data.train), ("held", data.held_out)):
        (pixels,), place = way("digits"), draws(f"{name} places")
        canvas, boxes = np.zeros((len(pixels), 1, 16, 16), np.float32), []
        for number, (top, left) in enumerate(place.randint(0, 9, (len(pixels), 2))):
            canvas[number, 0, top : top + 8, left : left + 8] = pixels[number].reshape(8, 8)
            boxes.append([[0, left / 16, top / 16, (left + 8) / 16, (top + 8) / 16]])
        parts.append((canvas, np.asarray(boxes, np.float32)))
    net = mx.sym.var("data")
    for number in range(2):
        how = {"kernel": (3, 3), "pad": (1, 1), "stride": (2, 2), "num_filter": 12, "name": f"conv{number}"}
        net = mx.sym.tanh(mx.sym.Convolution(net, **how))
    anchors = mx.sym.contrib.MultiBoxPrior(net, sizes=(0.5,), ratios=(1.0,))
    maps = [
        mx.sym.Convolution(net, kernel=(3, 3), pad=(1, 1), num_filter=count, name=name)
        for name, count in (("classes", 2), ("offsets", 4))
    ]
    scores, offsets = (mx.sym.transpose(each, axes=(0, 2, 3, 1)) for each in maps)
    scores = mx.sym.transpose(mx.sym.Reshape(scores, shape=(0, -1, 2)), axes=(0, 2, 1))
    label = mx.sym.var("label")
    target = mx.sym.contrib.MultiBoxTarget(anchors, label, scores, overlap_threshold=0.5)
    chosen = mx.sym.SoftmaxOutput(scores, target[2], multi_output=True, normalization="valid", name="chosen")
    misses = mx.sym.smooth_l1(target[1] * (mx.sym.Flatten(offsets) - target[0]), scalar=1.0)
    net = mx.sym.Group([chosen, mx.sym.MakeLoss(misses, normalization="batch"), mx.sym.BlockGrad(target[2])])
    (x, y), (rows, wanted) = parts
    module = fitted(mx, net, {"data": x}, {"label": y}, 3, learning_rate=0.01)
    tested = mx.mod.Module(net, label_names=["label"])
    tested.bind([("data", rows.shape)], [("label", wanted.shape)], for_training=False)
    tested.set_params(*module.get_params())
    tested.forward(mx.io.DataBatch([mx.nd.array(rows)], [mx.nd.array(wanted)]))
    found, missed, classes = (each.asnumpy() for each in tested.get_outputs())
    return cross_entropy(found.transpose(0, 2, 1), classes) + float(missed.mean())


@program
def chosen_actions(mx: Any, data: Data) -> float:
    """Reinforcement by a reward for the right digit: policy gradients with the actions of a fixed policy.

    The loss is the reward that is missed on rows held out.
    """
    (x, y), (rows, classes) = (way("digits", "digits_target") for way in (data.train, data.held_out))
    x, y = np.tile(x, (4, 1)), np.tile(y, 4)
    action = draws("actions").randint(0, 10, len(x))
    reward = 10.0 * (action == y) - 1.0
    policy = mx.sym.softmax(dense(mx, mx.sym.var("data"), 32, 10))
    taken = mx.sym.pick(policy, mx.sym.var("action"), axis=1)
    net = mx.sym.Group([mx.sym.MakeLoss(-taken * mx.sym.var("reward")), mx.sym.BlockGrad(policy)])
    labels = {"action": action, "reward": reward}
    module = fitted(mx, net, {"data": x}, labels, 4, learning_rate=0.005)
    found = outputs(mx, module, {"data": rows})[1]
    return float(1 - found[np.arange(len(rows)), classes.astype(int)].mean())


@program
def capsules(mx: Any, data: Data) -> float:
    """Sabour and others, 2017: lengths of vectors are classes; the squash is a `CustomOp`."""

    class Squash(mx.operator.CustomOp):  # type: ignore[misc, name-defined]
        def forward(self, is_train: bool, req: Any, in_data: Any, out_data: Any, aux: Any) -> None:
            size = mx.nd.sum(in_data[0] ** 2, axis=2, keepdims=True)
            scale = mx.nd.sqrt(size) / (1 + size)
            self.assign(out_data[0], req[0], mx.nd.broadcast_mul(in_data[0], scale))

        def backward(
            self, req: Any, out_grad: Any, in_data: Any, out_data: Any, in_grad: Any, aux: Any
        ) -> None:
            x, size = in_data[0], mx.nd.sum(in_data[0] ** 2, axis=2, keepdims=True) + 1e-9
            scale, slope = (
                mx.nd.sqrt(size) / (1 + size),
                (1 - size) / (2 * mx.nd.sqrt(size) * (1 + size) ** 2),
            )
            along = mx.nd.sum(out_grad[0] * x, axis=2, keepdims=True) * slope * 2
            found = mx.nd.broadcast_mul(out_grad[0], scale) + mx.nd.broadcast_mul(x, along)
            self.assign(in_grad[0], req[0], found)

    class SquashProp(mx.operator.CustomOpProp):  # type: ignore[misc, name-defined]
        def create_operator(self, ctx: Any, shapes: Any, dtypes: Any) -> Any:
            return Squash()

    mx.operator.register("held_out_squash")(SquashProp)
    (x, y), (rows, classes) = (way("digits", "digits_target") for way in (data.train, data.held_out))
    vectors = mx.sym.Reshape(dense(mx, mx.sym.var("data"), 48, 40), shape=(-1, 10, 4))
    squashed = mx.sym.Custom(vectors, op_type="held_out_squash", name="squash")
    lengths = mx.sym.sqrt(mx.sym.sum(mx.sym.square(squashed), axis=2) + 1e-6)
    net = mx.sym.SoftmaxOutput(lengths * 8, name="softmax")
    module = fitted(mx, net, {"data": x}, {"softmax_label": y}, 5, learning_rate=0.005)
    return cross_entropy(outputs(mx, module, {"data": rows})[0], classes)


@program
def mixture_of_experts(mx: Any, data: Data) -> float:
    """Jacobs and others, 1991: a gate weighs four small networks."""
    (x, y), (rows, classes) = (way("wine", "wine_target") for way in (data.train, data.held_out))
    given = mx.sym.var("data")
    experts = [mx.sym.expand_dims(dense(mx, given, 4, 3, name=f"expert{n}_"), axis=1) for n in range(4)]
    gate = mx.sym.expand_dims(mx.sym.softmax(dense(mx, given, 4, name="gate")), axis=2)
    mixed = mx.sym.sum(mx.sym.broadcast_mul(mx.sym.concat(*experts, dim=1), gate), axis=1)
    net = mx.sym.SoftmaxOutput(mixed, name="softmax")
    module = fitted(mx, net, {"data": x}, {"softmax_label": y}, 10, learning_rate=0.02)
    return cross_entropy(outputs(mx, module, {"data": rows})[0], classes)
