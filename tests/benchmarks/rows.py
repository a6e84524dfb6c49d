"""The rows of the benchmark: what is done, for whatever library has a maker for it."""

from __future__ import annotations

from typing import Any, NamedTuple

REPEATS = 100  # calls in a row of what takes microseconds
LARGE_REPEATS = 5  # and of what takes a millisecond
CHAIN = 1000
TANH_SIZE = 4_000_000


class Sizes(NamedTuple):
    """Of a recurrent network and its data."""

    mode: str
    steps: int
    batch: int
    features: int
    state_size: int
    num_layers: int = 1
    bidirectional: bool = False

    def __str__(self) -> str:
        layers = f"{self.num_layers} layers of " if self.num_layers > 1 else ""
        both = ", both directions" if self.bidirectional else ""
        return f"RNN {self.mode} {self.steps}x{self.batch}x{self.features}, {layers}{self.state_size}{both}"


class Row(NamedTuple):
    """One thing to measure.

    Attributes:
        name: Unique.
        group: Rows of one group stand in one table.
        maker: Name of the function that makes its work, in the modules of a library.
        options: Given to that function.
        unit: "s", "ms", "us", "ns" of one operation, "MB", or a number per second, "img/s".
        own: No other library has it: it is left out where libraries are compared.
    """

    name: str
    group: str
    maker: str
    options: dict[str, Any]
    unit: str = "ms"
    own: bool = False

    @property
    def is_rate(self) -> bool:
        """True if a larger figure is better."""
        return self.unit.endswith("/s")

    def figure(self, seconds: float) -> float:
        """Figure of the row, in its unit, for an operation that takes so many seconds."""
        per_second = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}
        return 1 / seconds if self.is_rate else seconds * per_second[self.unit]


def _dispatch() -> list[Row]:
    calls = (
        ("x + 1", "plus one"), ("nd.tanh(x)", "tanh"), ("x + x", "add"), ("x * 2.5", "scale"),
        ("x * a new number", "new number"), ("x[1:3]", "view"), ("elemwise_add(x, x, out=y)", "out"),
        ("sgd_update(y, x, out=y)", "sgd"), ("sgd_update with a new rate", "sgd, new rate"),
        ("x.astype('int32')", "astype"), ("x.sum()", "sum"), ("zeros((16, 16))", "zeros"),
        ("x[:] = 1", "assign"), ("softmax(x)", "softmax"),
    )  # fmt: skip
    rows = [Row(f"{shown}, 16x16", "small calls", "call", {"name": name}, "us") for shown, name in calls]
    dense = Row("FullyConnected, 32x64 by 64x64", "small calls", "call", {"name": "dense"}, "us")
    chains = [
        Row(f"recorded chain of 100, {what}, per operator", "small calls", "recorded",
            {"backward": backward}, "us")
        for what, backward in (("forward", False), ("forward + backward", True))
    ] + [
        Row(f"bound chain of {CHAIN:,}, {what}, per operator", "small calls", "chain",
            {"count": CHAIN, "backward": backward}, "us")
        for what, backward in (("forward", False), ("forward + backward", True))
    ]  # fmt: skip
    return [*rows, dense, *chains]


def _training() -> list[Row]:
    tasks = (
        ("MLP 784-512-256-10, batch 64", "mlp 512-256"), ("MLP 784-64-64-10, batch 64", "mlp 64-64"),
        ("MLP 784-1024-1024-10, batch 512", "mlp 1024-1024"), ("LeNet, batch 64", "lenet"),
        ("ResNet-20, 3x32x32, batch 32", "resnet20"), ("LSTM 35 x 200, batch 32, unrolled", "lstm"),
    )  # fmt: skip
    tanh = Row("10 x tanh(1.1 x + 0.1), 4 M, forward + backward", "training", "tanh_chain",
               {"size": TANH_SIZE})  # fmt: skip
    return [
        tanh, *[Row(f"{shown}, step", "training", "step", {"task": task}) for shown, task in tasks],
        Row("DCGAN 3x32x32, batch 32, step of both", "training", "dcgan", {}),
        Row("fine-tuning without convolutions, batch 32, step", "training", "step", {"task": "fine-tuning"}),
        Row("ResNet-20 with Module.fit", "training", "fit", {"task": "resnet20"}, "img/s"),
    ]  # fmt: skip


def _prediction() -> list[Row]:
    return [
        Row(f"ResNet-{depth}, 3x224x224, batch {batch}", "prediction", "predict",
            {"task": f"resnet{depth}, batch {batch}"})
        for depth in (18, 50)
        for batch in (1, 8)
    ]  # fmt: skip


def _operators() -> list[Row]:
    passes = (("forward", False), ("forward + backward", True))
    rowwise = [
        Row(f"{op} {rows}x{columns}, {what}", "rows and normalization", "rowwise",
            {"op": op, "shape": (rows, columns), "backward": backward}, "us")
        for op in ("softmax", "log_softmax", "LayerNorm")
        for rows, columns in ((64, 10), (512, 768), (512, 1000), (4096, 768))
        for what, backward in passes
    ]  # fmt: skip
    norm = [
        Row(f"BatchNorm 32x64x28x28, training, {what}", "rows and normalization", "batch_norm",
            {"backward": backward}, "us")
        for what, backward in passes
    ]  # fmt: skip
    groups = [
        Row(f"GroupNorm {'x'.join(map(str, shape))}, 4 groups, {what}", "rows and normalization",
            "group_norm", {"shape": shape, "backward": backward}, "us")
        for shape in ((8, 16, 6, 6), (32, 64, 28, 28))
        for what, backward in passes
    ]  # fmt: skip
    return [*rowwise, *norm, *groups]


def _authors() -> list[Row]:
    """Operators of `tests.benchmarks.authors` and operad-transformer: plain NumPy, no word about kernels."""
    shapes = {
        "rms_norm": (2048, 1024), "swiglu": (2048, 1024), "fake_quantization": (2048, 1024),
        "batch_norm_relu": (32, 64, 28, 28), "masked_softmax": (2048, 1024), "group_norm": (32, 64, 28, 28),
        "rotary_embedding": (2, 16, 256, 64), "grouped_query_attention": (2, 16, 256, 64),
        "cross_entropy": (512, 8192), "selective_scan": (2, 256, 256), "top_k_gating": (8192, 64),
        "focal_loss": (2048, 1024), "alibi_attention": (2, 8, 256, 64), "info_nce": (1024, 256),
        "pixel_shuffle_gelu": (16, 64, 32, 32),
    }  # fmt: skip
    return [
        Row(f"{name} {'x'.join(map(str, shape))}, {what}", "operators as authors write them", "author",
            {"name": name, "shape": shape, "backward": backward}, "us")
        for name, shape in shapes.items()
        for what, backward in (("forward", False), ("forward + backward", True))
    ]  # fmt: skip


def _recurrent() -> list[Row]:
    given = (
        Sizes("lstm", 35, 32, 200, 200, 2), Sizes("lstm", 100, 16, 512, 512),
        Sizes("lstm", 35, 32, 200, 200, 1, bidirectional=True), Sizes("lstm", 20, 1, 64, 64),
        Sizes("gru", 35, 32, 200, 200, 2), Sizes("rnn_tanh", 35, 32, 200, 200, 2),
    )  # fmt: skip
    return [
        Row(f"{sizes}, {what}", "recurrent operators", "rnn", {"sizes": tuple(sizes), "backward": backward})
        for sizes in given
        for what, backward in (("forward", False), ("forward + backward", True))
    ]


def _gpt() -> list[Row]:
    """The network of `examples/gpt.py`."""
    group, size = "transformer", "gpt, 4 layers of 256"
    return [
        Row(f"{size}, batch 8 x 256, step with Adam", group, "gpt_step", {}),
        Row(f"{size}, batch 8 x 256, forward", group, "gpt_forward", {}),
        Row(f"{size}, decoding, batch 1", group, "gpt_decoding", {}, "letters/s"),
    ]


def _large() -> list[Row]:
    """Calls of NumPy's kind on larger arrays."""
    shown = {
        "cumsum": "cumsum 1000x1000 along rows", "normal": "random.normal, 1000x1000",
        "concat": "concat of two 1000x500 along rows", "transpose": "transpose 64x64",
    }  # fmt: skip
    return [Row(text, "large calls", "large_call", {"name": name}, "us") for name, text in shown.items()]


def _lookups() -> list[Row]:
    group = "lookups"
    return [
        Row("take 1,024 rows of 10^6 x 64", group, "take", {}, "us"),
        Row("Embedding gradient, 'add', 1,024 of 10^6 x 64", group, "embedding_gradient",
            {"rows": 1_000_000, "looked_up": 1024}, "us"),
        Row("Embedding gradient, 'add', 65,536 of 1,000 x 64", group, "embedding_gradient",
            {"rows": 1000, "looked_up": 1 << 16}, "us"),
        Row("topk 10 of 64 x 10,000", group, "topk", {}, "us"),
    ]  # fmt: skip


def _compilation() -> list[Row]:
    group, what = "binding and memory", "bind, per operator: "
    return [
        Row(f"{what}chain of {CHAIN:,} with gradients", group, "bind_chain", {"count": CHAIN}, "us"),
        Row(f"{what}MLP of 1,000 with gradients", group, "bind_task", {"layers": 500}, "us"),
        Row(f"{what}chain of 20,000 with gradients", group, "bind_chain", {"count": 20_000}, "us", own=True),
        Row("planned memory, ResNet-20, batch 32", group, "planned_task", {"task": "resnet20"}, "MB"),
        Row("planned memory, 10 x tanh, 4 M", group, "planned_tanh_chain", {"size": TANH_SIZE}, "MB"),
        Row("planned memory, LSTM 35 x 200, batch 32", group, "planned_task", {"task": "lstm"}, "MB"),
        Row("backward of 200 recorded operators, seen before", group, "tape", {"new": False}, "us", own=True),
        Row("backward of 200 recorded operators, a new structure", group, "tape", {"new": True}, "us",
            own=True),
    ]  # fmt: skip


def _own() -> list[Row]:
    """Rows that only operad has, some beside a yardstick of their own."""
    sizes = ((4, 4), (64, 64), (256, 256), (512, 512))
    engine = ("dependent push + run", "independent push + run", "push, then wait", "run inline, 2 variables")
    return [
        *[Row(f"threaded engine: {what}", "engine", "engine", {"what": what}, "us", own=True)
          for what in engine],
        Row("naive engine: push + run", "engine", "engine", {"what": "naive"}, "us", own=True),
        *[Row(f"CustomOp, forward + backward, {shape[0]}x{shape[1]}", "programs", "custom", {"shape": shape},
              "us", own=True) for shape in sizes],
        Row("a batch of Module.fit, MLP 784-64-64-10, accuracy", "programs", "fit_and_loop",
            {"task": "mlp 64-64"}, "us", own=True),
        *[Row(f"LSTM cell {'x'.join(map(str, sizes))}, eager step without a wait", "programs", "eager_loop",
              dict(zip(("length", "batch", "state_size"), sizes, strict=True)), "us", own=True)
          for sizes in ((12, 16, 64), (12, 4, 16), (48, 16, 64))],
        Row("import operad", "programs", "importing", {}, "ms", own=True),
    ]  # fmt: skip


ROWS = [
    *_dispatch(),
    *_training(),
    *_prediction(),
    *_operators(),
    *_authors(),
    *_recurrent(),
    *_gpt(),
    *_large(),
    *_lookups(),
    *_compilation(),
    *_own(),
]
