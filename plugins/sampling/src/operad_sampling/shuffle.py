"""`_shuffle`: rows in random order."""

from __future__ import annotations

from operad_sdk import Array, Contract, Distribution, OpContext, OperatorProperty, ResourceRequest, operator


@operator("_shuffle")
class Shuffle(OperatorProperty):
    """The items along the first axis in random order, every order as likely as the others.

    No gradient flows.

    Shapes:
        data: Any.
        output: As data.

    Example:
        >>> import operad as od
        >>> x = od.nd.shuffle(od.nd.array([[1, 2], [3, 4], [5, 6]]))
        >>> sorted(x.asnumpy().tolist())
        [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]

    Source: _shuffle, src/operator/random/shuffle_op.cc.
    """

    spec = "data:(...) -> output:(...)"
    resource = ResourceRequest.RANDOM
    element_cost = 5
    contract = Contract(
        no_numeric_gradient="the shuffled rows are constants to MXNet",
        distribution=Distribution(
            mean=lambda prop: 0.5,
            variance=lambda prop: 0.25,
            draws=lambda prop, inputs, outputs: [outputs[0][0] != inputs[0][0]],
            shapes=[(2,)],
        ),
    )

    def forward(data: Array, op_ctx: OpContext) -> Array:
        """Take the items by a random permutation of their numbers."""
        if not data.ndim:
            return data
        generator = op_ctx.requested[0].generator
        # CuPy's generators have no permutation; among doubles, ties are out of the question.
        is_gpu, count = op_ctx.ctx.is_gpu, len(data)
        # mutant: is_gpu becomes: equivalent, because either order is random
        order = op_ctx.xp.argsort(generator.random(count)) if is_gpu else generator.permutation(count)
        return data[order]
