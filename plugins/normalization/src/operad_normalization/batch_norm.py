"""`BatchNorm`: every channel standardized over the batch."""

from __future__ import annotations

from operad.operator import BackwardEntry
from operad_normalization.axis_line import MAX_AXES
from operad_normalization.batch_norm_again import BatchNormAgain
from operad_normalization.batch_norm_reference import normalized
from operad_normalization.batch_statistics import BatchStatistics, why_no_numeric_gradient
from operad_sdk import Contract, OperatorProperty, operator, param


@operator("BatchNorm")
class BatchNorm(BatchStatistics):
    """Each channel less its mean, over its standard deviation, times gamma plus beta.

    In training mean and variance are those of the batch, and the moving ones become `momentum` times
    themselves plus `1 - momentum` times these; the variance divides by the number of elements. In
    prediction, with `use_global_stats`, and for an empty batch they are the moving ones. The gradients of
    the outputs `mean` and `var` are ignored.

    Shapes:
        data: (N, C, ...), with C on `axis`, of a floating type.
        gamma, beta, moving_mean, moving_var: (C,); of float32 where data is of float16.
        output: As data.
        mean (hidden unless output_mean_var): (C,), what was subtracted.
        var (hidden unless output_mean_var): (C,), what was multiplied with: `1 / sqrt(variance + eps)`.

    Example:
        >>> import operad as od
        >>> gamma, beta, mean, var = (od.nd.array([value]) for value in (1, 0.5, 0, 1))
        >>> with od.autograd.train_mode():
        ...     output = od.nd.BatchNorm(od.nd.array([[1], [3]]), gamma, beta, mean, var, eps=0)
        >>> output.asnumpy().ravel(), mean.asnumpy(), var.asnumpy()
        (array([-0.5,  1.5], dtype=float32), array([0.2], dtype=float32), array([1.], dtype=float32))

    Source: BatchNormParam, src/operator/nn/batch_norm-inl.h. Differs: moving statistics are updated in
    forward, not in backward; `fix_gamma` reads gamma as 1, and writes it in executors alone.
    """

    axis = param(int, 1, ge=-MAX_AXES, lt=MAX_AXES, doc="The axis of the channels.")
    cudnn_off = param(bool, False, ignored="Accepted for MXNet's files; there is no cuDNN here.")
    min_calib_range = param(float, None, ignored="Accepted for MXNet's files; nothing is quantized here.")
    max_calib_range = param(float, None, ignored="Accepted for MXNet's files; nothing is quantized here.")

    contract = Contract(
        reference=normalized,
        # What is ignored only makes variants, which would have to be distinguished.
        params={
            "axis": (1, -1, 0, 2, -2),
            "cudnn_off": (False,),
            "min_calib_range": (None,),
            "max_calib_range": (None,),
        },
        no_numeric_gradient=why_no_numeric_gradient,
        undefined="with eps=0, channels whose values are all alike are divided by 0",
    )

    def recomputation(self) -> tuple[OperatorProperty, list[BackwardEntry]] | None:
        """The output from the data, and from the hidden outputs after a prediction."""
        if self.use_global_stats or self.output_mean_var:
            return None
        again = BatchNormAgain(eps=self.eps, fix_gamma=self.fix_gamma, axis=self.axis)
        read = [("in_data", 0), ("in_data", 1), ("in_data", 2), ("out_data", 1), ("out_data", 2)]
        return again, [BackwardEntry(*entry) for entry in read]
