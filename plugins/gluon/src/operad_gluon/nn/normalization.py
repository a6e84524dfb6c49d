"""Layers that normalize their input."""

from __future__ import annotations

from typing import Any

import numpy as np

from operad_gluon.block import HybridBlock
from operad_gluon.parameter import Parameter


class _Affine(HybridBlock):
    """A layer with a scale, `gamma`, and a shift, `beta`, each learnt or constant."""

    def _affine(
        self, length: int, center: bool, scale: bool, beta_initializer: Any, gamma_initializer: Any
    ) -> tuple[Parameter, Parameter]:
        with self.name_scope():
            gamma = self._vector("gamma", length, gamma_initializer, "write" if scale else "null")
            beta = self._vector("beta", length, beta_initializer, "write" if center else "null")
        return gamma, beta

    def _vector(self, name: str, length: int, init: Any, grad_req: str, **kwargs: Any) -> Parameter:
        return self.params.get(
            name, grad_req=grad_req, shape=(length,), init=init, allow_deferred_init=True, **kwargs
        )

    def _described(self, **further: Any) -> str:
        settings = ", ".join(f"{name}={value}" for name, value in (self._kwargs | further).items())
        return f"{type(self).__name__}({settings})"

    def __repr__(self) -> str:
        return self._described(in_channels=(self.gamma.shape or (0,))[0])

    _kwargs: dict[str, Any]
    gamma: Parameter


class _BatchNorm(_Affine):
    def __init__(
        self,
        axis: int = 1,
        momentum: float = 0.9,
        epsilon: float = 1e-5,
        center: bool = True,
        scale: bool = True,
        use_global_stats: bool = False,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        running_mean_initializer: Any = "zeros",
        running_variance_initializer: Any = "ones",
        in_channels: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._kwargs = {
            "axis": axis,
            "eps": epsilon,
            "momentum": momentum,
            "fix_gamma": not scale,
            "use_global_stats": use_global_stats,
        }
        self._axis, self._in_channels = axis, in_channels
        self.gamma, self.beta = self._affine(in_channels, center, scale, beta_initializer, gamma_initializer)
        statistics: dict[str, Any] = {"differentiable": False, "grad_req": "null"}
        with self.name_scope():
            self.running_mean = self._vector(
                "running_mean", in_channels, running_mean_initializer, **statistics
            )
            self.running_var = self._vector(
                "running_var", in_channels, running_variance_initializer, **statistics
            )

    def cast(self, dtype: Any) -> None:
        """Convert parameters to another type; statistics of float16 data are float32."""
        super().cast("float32" if np.dtype(dtype) == np.float16 else dtype)

    def hybrid_forward(
        self, F: Any, x: Any, gamma: Any, beta: Any, running_mean: Any, running_var: Any
    ) -> Any:
        """`x`, normalized."""
        return F.BatchNorm(x, gamma, beta, running_mean, running_var, name="fwd", **self._kwargs)

    def __repr__(self) -> str:
        return self._described(in_channels=(self.gamma.shape or (0,))[0] or None)


class BatchNorm(_BatchNorm):
    """Each channel less its mean over the batch, over its standard deviation; then scaled and shifted.

    Args:
        axis: The axis of channels.
        momentum: Weight of the old value in the running statistics.
        epsilon: Added to variances.
        center: Whether it is shifted by `beta`.
        scale: Whether it is scaled by `gamma`.
        use_global_stats: Whether the running statistics are used in training, too.
        beta_initializer: Initializer of the shift; those of the other parameters follow.
        in_channels: Number of channels; 0 where the first batch tells it.
    """


class BatchNormReLU(_BatchNorm):
    """`BatchNorm`, and zero where that is below zero."""

    def hybrid_forward(
        self, F: Any, x: Any, gamma: Any, beta: Any, running_mean: Any, running_var: Any
    ) -> Any:
        """`x`, normalized and rectified."""
        found = super().hybrid_forward(F, x, gamma, beta, running_mean, running_var)
        return F.Activation(found, act_type="relu")


class InstanceNorm(_Affine):
    """Each channel of each sample less its mean, over its standard deviation; then scaled and shifted.

    Args:
        axis: The axis of channels.
        epsilon: Added to variances.
        center: Whether `beta` is learnt.
        scale: Whether `gamma` is learnt.
        beta_initializer: Initializer of the shift.
        gamma_initializer: Initializer of the scale.
        in_channels: Number of channels; 0 where the first batch tells it.
    """

    def __init__(
        self,
        axis: int = 1,
        epsilon: float = 1e-5,
        center: bool = True,
        scale: bool = False,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        in_channels: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._kwargs = {"eps": epsilon, "axis": axis, "center": center, "scale": scale}
        self.gamma, self.beta = self._affine(in_channels, center, scale, beta_initializer, gamma_initializer)

    def hybrid_forward(self, F: Any, x: Any, gamma: Any, beta: Any) -> Any:
        """`x`, normalized."""
        axis, eps = self._kwargs["axis"], self._kwargs["eps"]
        if axis == 1:
            return F.InstanceNorm(x, gamma, beta, name="fwd", eps=eps)
        x = F.swapaxes(x, dim1=1, dim2=axis)
        return F.swapaxes(F.InstanceNorm(x, gamma, beta, name="fwd", eps=eps), dim1=1, dim2=axis)


class LayerNorm(_Affine):
    """Each sample less its mean along an axis, over its standard deviation; then scaled and shifted.

    Args:
        axis: The axis that is normalized.
        epsilon: Added to variances.
        center: Whether `beta` is learnt.
        scale: Whether `gamma` is learnt.
        beta_initializer: Initializer of the shift.
        gamma_initializer: Initializer of the scale.
        in_channels: Length of the axis; 0 where the first batch tells it.
        prefix: As of a block.
        params: As of a block.
    """

    def __init__(
        self,
        axis: int = -1,
        epsilon: float = 1e-5,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        in_channels: int = 0,
        prefix: str | None = None,
        params: Any = None,
    ) -> None:
        super().__init__(prefix=prefix, params=params)
        self._kwargs = {"eps": epsilon, "axis": axis, "center": center, "scale": scale}
        self.gamma, self.beta = self._affine(in_channels, center, scale, beta_initializer, gamma_initializer)

    def hybrid_forward(self, F: Any, data: Any, gamma: Any, beta: Any) -> Any:
        """The data, normalized."""
        return F.LayerNorm(data, gamma=gamma, beta=beta, axis=self._kwargs["axis"], eps=self._kwargs["eps"])


class GroupNorm(_Affine):
    """Each group of channels of a sample less its mean, over its standard deviation; scaled and shifted.

    Args:
        num_groups: Number of groups.
        epsilon: Added to variances.
        center: Whether `beta` is learnt.
        scale: Whether `gamma` is learnt.
        beta_initializer: Initializer of the shift.
        gamma_initializer: Initializer of the scale.
        prefix: As of a block.
        params: As of a block.
    """

    def __init__(
        self,
        num_groups: int = 1,
        epsilon: float = 1e-5,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        prefix: str | None = None,
        params: Any = None,
    ) -> None:
        super().__init__(prefix=prefix, params=params)
        self._kwargs = {"eps": epsilon, "num_groups": num_groups, "center": center, "scale": scale}
        self.gamma, self.beta = self._affine(num_groups, center, scale, beta_initializer, gamma_initializer)

    def hybrid_forward(self, F: Any, data: Any, gamma: Any, beta: Any) -> Any:
        """The data, normalized."""
        groups, eps = self._kwargs["num_groups"], self._kwargs["eps"]
        return F.GroupNorm(data, gamma=gamma, beta=beta, num_groups=groups, eps=eps)

    def __repr__(self) -> str:
        return self._described()
