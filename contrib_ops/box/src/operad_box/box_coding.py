"""`_contrib_box_encode` and `_contrib_box_decode`: boxes as offsets from anchors, and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from operad.errors import IndexOutOfRangeError
from operad_box import definitions
from operad_box.examples import boxes, matched, samples
from operad_box.geometry import FORMATS, converted
from operad_sdk import Array, Contract, Drawn, OpContext, OperatorProperty, Real, operator, param, positive


@operator("_contrib_box_encode")
class box_encode(OperatorProperty):
    """The offsets of true boxes from the anchors that are matched with them; there is no gradient.

    An offset is the distance of the centres in sizes of the anchor, and the logarithm of the sizes'
    quotient, less its mean and over its standard deviation.

    Shapes:
        samples: (B, N), 1 for an anchor with a true box; targets of all others are 0.
        matches: (B, N), the number of each anchor's true box.
        anchors: (B, N, 4), corners.
        refs: (B, M, 4), corners of the true boxes.
        means: (4,).
        stds: (4,).
        output0: (B, N, 4), the offsets.
        output1: (B, N, 4), 1 with a true box, else 0.

    Example:
        >>> import operad as od
        >>> one, zero, match = od.nd.ones((1, 1)), od.nd.zeros((4,)), od.nd.zeros((1, 1))
        >>> anchors, truth = od.nd.array([[[0, 0, 2, 2]]]), od.nd.array([[[1, 0, 3, 2]]])
        >>> od.nd._contrib_box_encode(one, match, anchors, truth, zero, zero + 0.1)[0].asnumpy()
        array([[[5., 0., 0., 0.]]], dtype=float32)

    Source: BoxEncode, src/operator/contrib/bounding_box-inl.h. Differs: matches outside of `refs` are errors.
    """

    spec = (
        "samples:(B, N), matches:(B, N), anchors:(B, N, 4), refs:(B, M, 4), means:(4), stds:(4)"
        " -> output0:(B, N, 4), output1:(B, N, 4)"
    )
    accepts = "floating"
    compute_dtype = "float32"
    contract = Contract(
        inputs={
            "samples": Drawn(samples),
            "matches": Drawn(matched),
            "anchors": Drawn(boxes),
            "refs": Drawn(boxes),
            "means": Real(-0.5, 0.5),
            "stds": positive(),
        },
        reference=definitions.box_encode,
        no_numeric_gradient="targets are constants of the training, as in MXNet",
        nan_policy="what an anchor without a true box has is not looked at",
    )

    @staticmethod
    def forward(
        op_ctx: OpContext,
        samples: Array,
        matches: Array,
        anchors: Array,
        refs: Array,
        means: Array,
        stds: Array,
        output0: Array,
        output1: Array,
    ) -> None:
        """Centres and sizes of both, and what lies between."""
        is_matched = samples > 0.5
        output1[...] = is_matched[..., None]
        output0[...] = 0
        image, place = op_ctx.xp.nonzero(is_matched)
        if not len(image):
            return
        number = _checked(matches[image, place], refs.shape[1])
        truth = converted(refs[image, number], "corner", "center")
        anchor = converted(anchors[image, place], "corner", "center")
        distance = (truth[:, :2] - anchor[:, :2]) / anchor[:, 2:]
        ratio = np.log(truth[:, 2:] / anchor[:, 2:])
        output0[image, place] = (op_ctx.xp.concatenate([distance, ratio], axis=1) - means) / stds


def _checked(matches: Array, count: int) -> Array:
    """Numbers of true boxes as indices.

    Raises:
        IndexOutOfRangeError: One is outside of them.
    """
    if not bool(((matches >= 0) & (matches < count)).all()):
        raise IndexOutOfRangeError(
            f"_contrib_box_encode: matches has elements between {matches.min():g} and {matches.max():g} "
            f"where samples is 1, expected 0 to {count - 1}, the numbers of refs"
        )
    return matches.astype(np.intp)


def _std(number: int) -> Any:
    return param(float, 1.0, doc=f"Factor of offset {number}.")


@operator("_contrib_box_decode")
class box_decode(OperatorProperty):
    """The boxes that have such offsets from their anchors, as corners; there is no gradient.

    Shapes:
        data: (B, N, 4), the offsets.
        anchors: (1, N, 4), in `format`.
        output: (B, N, 4), corners.

    Example:
        >>> import operad as od
        >>> offsets, anchors = od.nd.array([[[0.5, 0, 0, 0]]]), od.nd.array([[[1, 1, 2, 2]]])
        >>> od.nd._contrib_box_decode(offsets, anchors).asnumpy()
        array([[[1., 0., 3., 2.]]], dtype=float32)

    Source: BoxDecode, src/operator/contrib/bounding_box-inl.h.
    """

    std0 = _std(0)
    std1 = _std(1)
    std2 = _std(2)
    std3 = _std(3)
    clip = param(float, -1.0, doc="Largest logarithm of a quotient of sizes; not positive: any.")
    format = param(str, "center", choices=FORMATS, doc="Format of an anchor's four numbers.")

    spec = "data:(B, N, 4), anchors:(1, N, 4) -> output:(B, N, 4)"
    accepts = "floating"
    compute_dtype = "float32"
    contract = Contract(
        inputs={"anchors": Drawn(boxes)},
        params={f"std{number}": (1.0, 0.5) for number in range(4)} | {"clip": (-1.0, 0.5)},
        no_numeric_gradient="decoded boxes are what a detector finds, constants as in MXNet",
        reference=definitions.box_decode,
    )

    def forward(self, data: Array, anchors: Array, output: Array) -> None:
        """Centres and half the sizes; less and plus these."""
        anchor = converted(anchors, self.format, "center")
        for axis in (0, 1):
            size = anchor[..., axis + 2]
            centre = data[..., axis] * getattr(self, f"std{axis}") * size + anchor[..., axis]
            growth = data[..., axis + 2] * getattr(self, f"std{axis + 2}")
            if self.clip > 0:
                growth = np.minimum(growth, self.clip)
            half = np.exp(growth) * size / 2
            output[..., axis] = centre - half
            output[..., axis + 2] = centre + half
