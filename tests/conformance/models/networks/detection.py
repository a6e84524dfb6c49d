"""A small single-shot detector."""

from __future__ import annotations

from typing import Any

CLASSES = 3


def detector(mx: Any) -> Any:
    """A trunk, two scales of anchors, heads of classes and boxes, their losses, and the detections.

    Four outputs, as programs of MXNet have them: class probabilities, the loss of the boxes, the class
    targets and the detected boxes.
    """
    net = mx.sym.Variable("data")
    label = mx.sym.Variable("label")
    scales = []
    for number, filters in enumerate((8, 16, 16, 16), 1):
        net = mx.sym.Convolution(
            net, name=f"conv{number}", kernel=(3, 3), pad=(1, 1), num_filter=filters, no_bias=True
        )
        net = mx.sym.BatchNorm(net, name=f"bn{number}", fix_gamma=False)
        net = mx.sym.Activation(net, name=f"relu{number}", act_type="relu")
        net = mx.sym.Pooling(net, name=f"pool{number}", kernel=(2, 2), stride=(2, 2), pool_type="max")
        if number > 2:
            scales.append(net)
    classes, places, anchors = _heads(mx, scales)
    target = mx.sym.contrib.MultiBoxTarget(
        anchors,
        label,
        classes,
        name="target",
        overlap_threshold=0.5,
        ignore_label=-1,
        negative_mining_ratio=3,
        negative_mining_thresh=0.5,
        minimum_negative_samples=0,
        variances=(0.1, 0.1, 0.2, 0.2),
    )
    probabilities = mx.sym.SoftmaxOutput(
        classes,
        target[2],
        name="cls_prob",
        ignore_label=-1,
        use_ignore=True,
        multi_output=True,
        normalization="valid",
    )
    missed = mx.sym.smooth_l1(target[1] * (places - target[0]), name="loc_loss_", scalar=1.0)
    loss = mx.sym.MakeLoss(missed, name="loc_loss", grad_scale=1.0, normalization="valid")
    found = mx.sym.contrib.MultiBoxDetection(
        probabilities,
        places,
        anchors,
        name="detection",
        nms_threshold=0.45,
        force_suppress=False,
        variances=(0.1, 0.1, 0.2, 0.2),
        nms_topk=40,
    )
    return mx.sym.Group(
        [
            probabilities,
            loss,
            mx.sym.BlockGrad(target[2], name="cls_label"),
            mx.sym.BlockGrad(found, name="det_out"),
        ]
    )


def _heads(mx: Any, scales: list[Any]) -> tuple[Any, Any, Any]:
    """Scores (batch, classes, anchors), places (batch, 4 * anchors) and anchors (1, anchors, 4)."""
    scores, places, anchors = [], [], []
    for number, (net, size) in enumerate(zip(scales, (0.25, 0.5), strict=True), 1):
        sizes, ratios = (size, size * 1.4), (1.0, 2.0, 0.5)
        count = len(sizes) + len(ratios) - 1
        for parts, width, name in ((scores, CLASSES + 1, "cls"), (places, 4, "loc")):
            head = mx.sym.Convolution(
                net, name=f"{name}_pred{number}", kernel=(3, 3), pad=(1, 1), num_filter=count * width
            )
            parts.append(mx.sym.Flatten(mx.sym.transpose(head, axes=(0, 2, 3, 1))))
        prior = mx.sym.contrib.MultiBoxPrior(
            net, name=f"anchors{number}", sizes=sizes, ratios=ratios, clip=True
        )
        anchors.append(mx.sym.Flatten(prior))
    merged = mx.sym.Reshape(mx.sym.Concat(*scores, dim=1), shape=(0, -1, CLASSES + 1))
    return (
        mx.sym.transpose(merged, axes=(0, 2, 1), name="multibox_cls_pred"),
        mx.sym.Concat(*places, dim=1, name="multibox_loc_pred"),
        mx.sym.Reshape(mx.sym.Concat(*anchors, dim=1), shape=(0, -1, 4), name="multibox_anchors"),
    )
