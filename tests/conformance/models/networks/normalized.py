"""ResNet-20 and a narrow Inception-BN."""

from __future__ import annotations

from typing import Any

EPS = 2e-5


def resnet20(mx: Any) -> Any:
    """Three stages of three units with pre-activation, 16 to 64 filters, for images of 32 x 32."""
    net = mx.sym.Variable("data")
    net = mx.sym.BatchNorm(net, name="bn_data", fix_gamma=True, eps=EPS)
    net = mx.sym.Convolution(net, name="conv0", kernel=(3, 3), pad=(1, 1), num_filter=16, no_bias=True)
    for stage, filters in enumerate((16, 32, 64), 1):
        for unit in range(1, 4):
            stride = 2 if stage > 1 and unit == 1 else 1
            net = _residual_unit(mx, net, filters, stride, unit > 1, f"stage{stage}_unit{unit}")
    net = mx.sym.BatchNorm(net, name="bn1", fix_gamma=False, eps=EPS, momentum=0.9)
    net = mx.sym.Activation(net, name="relu1", act_type="relu")
    net = mx.sym.Pooling(net, name="pool1", global_pool=True, kernel=(7, 7), pool_type="avg")
    net = mx.sym.FullyConnected(mx.sym.Flatten(net), name="fc1", num_hidden=10)
    return mx.sym.SoftmaxOutput(net, name="softmax")


def _residual_unit(mx: Any, data: Any, filters: int, stride: int, is_same: bool, name: str) -> Any:
    first = _normalized(mx, data, f"{name}_bn1", f"{name}_relu1")
    net = mx.sym.Convolution(
        first,
        name=f"{name}_conv1",
        num_filter=filters,
        kernel=(3, 3),
        stride=(stride, stride),
        pad=(1, 1),
        no_bias=True,
    )
    net = _normalized(mx, net, f"{name}_bn2", f"{name}_relu2")
    net = mx.sym.Convolution(
        net, name=f"{name}_conv2", num_filter=filters, kernel=(3, 3), pad=(1, 1), no_bias=True
    )
    shortcut = data
    if not is_same:
        shortcut = mx.sym.Convolution(
            first,
            name=f"{name}_sc",
            num_filter=filters,
            kernel=(1, 1),
            stride=(stride, stride),
            no_bias=True,
        )
    return net + shortcut


def _normalized(mx: Any, data: Any, name: str, relu: str) -> Any:
    net = mx.sym.BatchNorm(data, name=name, fix_gamma=False, eps=EPS, momentum=0.9)
    return mx.sym.Activation(net, name=relu, act_type="relu")


def inception_bn(mx: Any) -> Any:
    """Inception-BN for images of 32 x 32 with an eighth of its filters: two stages of its two blocks."""
    net = _conv(mx, mx.sym.Variable("data"), 12, (3, 3), "1", pad=(1, 1))
    net = _mixed(mx, net, 4, (4, 6), (4, 8), ("avg", 4), "3a")
    net = _mixed(mx, net, 6, (6, 8), (6, 8), ("avg", 6), "3b")
    net = _reduced(mx, net, (8, 10), (6, 8), "3c")
    net = _mixed(mx, net, 14, (6, 10), (8, 12), ("avg", 8), "4a")
    net = _mixed(mx, net, 10, (8, 14), (10, 16), ("max", 8), "4b")
    net = _reduced(mx, net, (8, 12), (10, 16), "4c")
    net = _mixed(mx, net, 22, (12, 20), (12, 14), ("max", 8), "5a")
    net = mx.sym.Pooling(net, name="global_pool", global_pool=True, kernel=(7, 7), pool_type="avg")
    net = mx.sym.FullyConnected(mx.sym.Flatten(net, name="flatten"), name="fc1", num_hidden=10)
    return mx.sym.SoftmaxOutput(net, name="softmax")


def _conv(mx: Any, data: Any, filters: int, kernel: tuple[int, int], name: str, **geometry: Any) -> Any:
    # A bias before a normalization has no effect, and a gradient of rounding errors alone.
    net = mx.sym.Convolution(
        data, name=f"conv_{name}", num_filter=filters, kernel=kernel, no_bias=True, **geometry
    )
    net = mx.sym.BatchNorm(net, name=f"bn_{name}")
    return mx.sym.Activation(net, name=f"relu_{name}", act_type="relu")


def _mixed(
    mx: Any,
    data: Any,
    plain: int,
    three: tuple[int, int],
    double: tuple[int, int],
    pooled: tuple[str, int],
    name: str,
) -> Any:
    """Four branches of the same size: 1 x 1, 3 x 3, twice 3 x 3, and pooling."""
    short = _conv(mx, data, three[0], (1, 1), f"{name}_3x3_reduce")
    long = _conv(mx, data, double[0], (1, 1), f"{name}_double_3x3_reduce")
    long = _conv(mx, long, double[1], (3, 3), f"{name}_double_3x3_0", pad=(1, 1))
    pool = mx.sym.Pooling(
        data, name=f"{pooled[0]}_pool_{name}", kernel=(3, 3), stride=(1, 1), pad=(1, 1), pool_type=pooled[0]
    )
    branches = [
        _conv(mx, data, plain, (1, 1), f"{name}_1x1"),
        _conv(mx, short, three[1], (3, 3), f"{name}_3x3", pad=(1, 1)),
        _conv(mx, long, double[1], (3, 3), f"{name}_double_3x3_1", pad=(1, 1)),
        _conv(mx, pool, pooled[1], (1, 1), f"{name}_proj"),
    ]
    return mx.sym.Concat(*branches, name=f"ch_concat_{name}_chconcat")


def _reduced(mx: Any, data: Any, three: tuple[int, int], double: tuple[int, int], name: str) -> Any:
    """Three branches that halve the size: 3 x 3, twice 3 x 3, and pooling."""
    short = _conv(mx, data, three[0], (1, 1), f"{name}_3x3_reduce")
    long = _conv(mx, data, double[0], (1, 1), f"{name}_double_3x3_reduce")
    long = _conv(mx, long, double[1], (3, 3), f"{name}_double_3x3_0", pad=(1, 1))
    branches = [
        _conv(mx, short, three[1], (3, 3), f"{name}_3x3", pad=(1, 1), stride=(2, 2)),
        _conv(mx, long, double[1], (3, 3), f"{name}_double_3x3_1", pad=(1, 1), stride=(2, 2)),
        mx.sym.Pooling(
            data, name=f"max_pool_{name}", kernel=(3, 3), stride=(2, 2), pad=(1, 1), pool_type="max"
        ),
    ]
    return mx.sym.Concat(*branches, name=f"ch_concat_{name}_chconcat")
