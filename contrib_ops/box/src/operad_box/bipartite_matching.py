"""`_contrib_bipartite_matching`: pairs of rows and columns, the best first."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from operad_box import definitions
from operad_sdk import Array, Contract, Distinct, OpContext, OperatorProperty, operator, param

NONE: Final = -1


@operator("_contrib_bipartite_matching")
class bipartite_matching(OperatorProperty):
    """Pairs of a row and a column, each of which is in one pair at most; there is no gradient.

    Pairs are taken in the order of their scores, equal ones in that of their places, where neither the row
    nor the column has a partner. The first that would be taken and does not exceed `threshold` (with
    `is_ascend`: is not below it) ends the search.

    Shapes:
        data: (..., N, M), a score for each row and column.
        output0: (..., N), the column of each row, -1 without one.
        output1: (..., M), the row of each column, -1 without one.

    Example:
        >>> import operad as od
        >>> scores = od.nd.array([[0.5, 0.6], [0.1, 0.2], [0.3, 0.4]])
        >>> rows, columns = od.nd._contrib_bipartite_matching(scores, threshold=1e-12)
        >>> rows.asnumpy(), columns.asnumpy()
        (array([ 1., -1.,  0.], dtype=float32), array([2., 0.], dtype=float32))

    Source: BipartiteMatchingParam, src/operator/contrib/bounding_box-inl.h.
    """

    is_ascend = param(bool, False, doc="Match the smallest scores first.")
    threshold = param(float, doc="Scores that are not beyond it make no pair.")
    topk = param(int, -1, doc="Maximum number of pairs; not positive: no limit.")

    spec = "data:(*B, N, M) -> output0:(*B, N), output1:(*B, M)"
    accepts = "floating"
    contract = Contract(
        inputs={"data": Distinct()},
        params={"threshold": (0.0, -0.5, 0.5), "topk": (-1, 1, 2)},
        reference=definitions.bipartite_matching,
        nan_policy="a score that is NaN is beyond no threshold, and its pair is not taken",
    )

    def forward(self, op_ctx: OpContext, data: Array, output0: Array, output1: Array) -> None:
        """One table after the other."""
        xp = op_ctx.xp
        for table in np.ndindex(data.shape[:-2]):
            rows, columns = self.pairs(data[table])
            output0[table] = xp.asarray(rows, output0.dtype)
            output1[table] = xp.asarray(columns, output1.dtype)

    def pairs(self, scores: Array) -> tuple[list[int], list[int]]:
        """The partner of each row and of each column."""
        rows, columns = ([NONE] * length for length in scores.shape)
        left = self.topk if self.topk > 0 else scores.size
        for score, row, column in self._candidates(scores):
            if rows[row] != NONE or columns[column] != NONE:
                continue
            if not left or not (score < self.threshold if self.is_ascend else score > self.threshold):
                break
            rows[row], columns[column] = column, row
            left -= 1
        return rows, columns

    def _candidates(self, scores: Array) -> Any:
        """Scores with their rows and columns, the best first."""
        flat = scores.reshape(-1)
        order = np.argsort(flat if self.is_ascend else -flat, kind="stable")
        numbers = order.tolist()
        return (
            (score, *divmod(number, scores.shape[1]))
            for score, number in zip(flat[order].tolist(), numbers, strict=True)
        )
