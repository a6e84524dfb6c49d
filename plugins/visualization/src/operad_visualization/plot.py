"""A network as a picture: DOT text for Graphviz, and SVG of our own, which needs no program.

Source: plot_network, python/mxnet/visualization.py, whose shapes, colours and labels these are.
"""

from __future__ import annotations

import webbrowser
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, final

from operad import Executor, Symbol
from operad.errors import ArgumentError, UnsupportedError
from operad.files import write_atomically
from operad_visualization import svg
from operad_visualization.layout import arranged
from operad_visualization.network import Node, Shape, nodes_of, product

_COLOURS: Final = {
    "": "#8dd3c7", "Convolution": "#fb8072", "Deconvolution": "#fb8072", "FullyConnected": "#fb8072",
    "BatchNorm": "#bebada", "Activation": "#ffffb3", "LeakyReLU": "#ffffb3", "Pooling": "#80b1d3",
    "Concat": "#fdb462", "Flatten": "#fdb462", "Reshape": "#fdb462", "Softmax": "#b3de69",
}  # fmt: skip
_OTHERS: Final = "#fccde5"
_LOOK: Final = {
    "shape": "box", "fixedsize": "true", "width": "1.3", "height": "0.8034", "style": "filled"
}  # fmt: skip
_WIDTH, _HEIGHT, _ACROSS, _DOWN, _MARGIN, _FRAME = 118.0, 42.0, 140.0, 84.0, 12.0, 7.0

Point = tuple[float, float]


def plot_network(
    symbol: Symbol,
    title: str = "plot",
    save_format: str = "pdf",
    shape: Mapping[str, Shape] | None = None,
    dtype: Mapping[str, Any] | None = None,
    node_attrs: Mapping[str, str] | None = None,
    hide_weights: bool = True,
    executor: Executor | None = None,
) -> Plot:
    """Draw the graph of a network, its inputs at the bottom.

    Args:
        symbol: The network.
        title: Of the picture; also the file's name where `render` is given none.
        save_format: What `render` writes. All but "svg" needs the package `graphviz` and its program `dot`.
        shape: Shapes of the inputs by name; edges then show what flows along them.
        dtype: Element types of the inputs by name; likewise.
        node_attrs: Graphviz's attributes of all nodes, such as `{"shape": "oval", "fixedsize": "false"}`.
        hide_weights: Leave out variables that are learned, going by their names.
        executor: The bound network, for boxes around the nodes that run as one kernel there. As
            `symbol.simple_bind(...)` returns it.

    Raises:
        ArgumentError: `symbol` is no symbol, or `executor` no executor.
        ShapeError: Not all shapes follow from those given.
    """
    nodes = nodes_of(symbol, shape, dtype)
    shown = [n for n, node in enumerate(nodes) if not (hide_weights and node.looks_learned)]
    position = {number: i for i, number in enumerate(shown)}
    edges = [
        (position[source], position[number], _flow(nodes[source], output))
        for number in shown
        for source, output in nodes[number].inputs
        if source in position
    ]
    look = {**_LOOK, **(node_attrs or {})}
    drawn = [nodes[n] for n in shown]
    return Plot(drawn, edges, title, save_format, look, _clusters(drawn, executor))


def _clusters(nodes: Sequence[Node], executor: Executor | None) -> dict[str, list[int]]:
    """By its kernel's name the numbers of the nodes that run as one."""
    if executor is None:
        return {}
    if not isinstance(executor, Executor):
        raise ArgumentError(f"plot_network: executor is {type(executor).__name__}, expected an Executor")
    numbers = {node.name: number for number, node in enumerate(nodes) if node.op}
    found = {
        name: [numbers[member] for member in report.members if member in numbers]
        for name, report in executor.why().composites.items()
    }
    return {name: members for name, members in found.items() if members}


@final
class Plot:
    """A picture of a network, used like a `graphviz.Digraph`; notebooks show it.

    Attributes:
        source: The graph in DOT.
        format: What `render` writes.
    """

    def __init__(
        self,
        nodes: Sequence[Node],
        edges: Sequence[tuple[int, int, str]],
        title: str,
        save_format: str,
        look: Mapping[str, str],
        clusters: Mapping[str, Sequence[int]],
    ) -> None:
        self._clusters = clusters
        self._nodes, self._edges, self._title, self._look = nodes, edges, title, look
        self.format = save_format
        self.source = self._dot()

    def render(
        self, filename: str | Path | None = None, view: bool = False, format: str | None = None
    ) -> str:
        """Write `FILENAME.FORMAT`, and return that name.

        Args:
            filename: Without ending; None: the title.
            view: Whether to show the file as well.
            format: "svg", or whatever Graphviz writes; None: that of the plot.

        Raises:
            UnsupportedError: The format needs Graphviz, which is not there.
        """
        ending = format or self.format
        path = f"{filename or self._title}.{ending}"
        write_atomically(path, self.pipe(ending))
        if view:
            webbrowser.open(Path(path).resolve().as_uri())
        return path

    def pipe(self, format: str | None = None) -> bytes:
        """The picture as bytes; raises as `render`."""
        ending = format or self.format
        if ending == "svg":
            return self._repr_svg_().encode()
        if ending in ("dot", "gv"):
            return self.source.encode()
        try:
            import graphviz  # noqa: PLC0415 - an extra

            return graphviz.Source(self.source).pipe(ending)  # type: ignore[no-any-return]  # untyped
        except (ImportError, RuntimeError) as error:  # the package or the program is not there
            raise UnsupportedError(
                f"plot {self._title!r}: {ending!r} needs the package graphviz and its program dot "
                f"({error}); pip install 'operad-visualization[graphviz]', or use format='svg'"
            ) from error

    def view(self, filename: str | Path | None = None) -> str:
        """`render`, and show the file."""
        return self.render(filename, view=True)

    def save(self, filename: str | Path | None = None) -> str:
        """Write the graph in DOT, and return the file's name."""
        path = str(filename or f"{self._title}.gv")
        write_atomically(path, self.source.encode())
        return path

    def __str__(self) -> str:
        return self.source

    def _dot(self) -> str:
        operators = {node.name for node in self._nodes if node.op}
        # A variable and an operator may have one name.
        names = [
            _quoted(f"{node.name} (input)" if not node.op and node.name in operators else node.name)
            for node in self._nodes
        ]
        lines = []
        for name, node in zip(names, self._nodes, strict=True):
            look = {**self._look, "fillcolor": _colour(node), "label": "\n".join(_label(node))}
            if not node.op:
                look["shape"] = "oval"
            lines.append(f"\t{name} [{_listed(look)}]")
        for i, (title, members) in enumerate(self._clusters.items()):
            inner = " ".join(names[number] for number in members)
            lines.append(f"\tsubgraph cluster_{i} {{ label={_quoted(title)} style=dashed {inner} }}")
        for source, target, flow in self._edges:
            look = {"dir": "back", "arrowtail": "open", "label": flow}
            lines.append(f"\t{names[target]} -> {names[source]} [{_listed(look)}]")
        return "\n".join([f"digraph {_quoted(self._title)} {{", *lines, "}"]) + "\n"

    def _repr_svg_(self) -> str:
        layout = arranged(len(self._nodes), [(source, target) for source, target, _ in self._edges])
        width = 2 * _MARGIN + layout.width * _ACROSS + _WIDTH
        height = 2 * _MARGIN + max(layout.height - 1, 0) * _DOWN + _HEIGHT

        def point(position: float, layer: int, up: float = 0.0) -> tuple[float, float]:
            across = _MARGIN + _WIDTH / 2 + position * _ACROSS
            return across, height - _MARGIN - _HEIGHT / 2 - layer * _DOWN - up

        places = [point(*place) for place in layout.nodes]
        parts = [
            svg.frame(*corner, *size, title)
            for title, members in self._clusters.items()
            for corner, size in _frames([places[number] for number in members], places)
        ]
        for path, (_, _, flow) in zip(layout.edges, self._edges, strict=True):
            (start, *passed, end), half = path, _HEIGHT / 2
            points = [point(*start, half), *(point(*each) for each in passed), point(*end, -half)]
            parts.append(svg.line(points, has_arrow=True))
            (ax, ay), (bx, by) = points[:2]
            parts.append(svg.text((ax + bx) / 2 + 4, (ay + by) / 2 + 3, flow, 9, "start") if flow else "")
        for node, (x, y) in zip(self._nodes, places, strict=True):
            is_round = not node.op or self._look["shape"] in ("oval", "ellipse")
            corner = (x - _WIDTH / 2, y - _HEIGHT / 2)
            parts.append(svg.box(*corner, _WIDTH, _HEIGHT, _colour(node), _tip(node), is_round))
            label = _label(node)
            for i, words in enumerate(label):
                parts.append(svg.text(x, y + 4 + 13 * (i - (len(label) - 1) / 2), _short(words)))
        return svg.document(width, height, parts, self._title)


def _frames(members: Sequence[Point], everything: Sequence[Point]) -> list[tuple[Point, Point]]:
    """Corner and size of one box around some nodes, or of one around each where others stand between."""
    lefts, tops = zip(*members, strict=True)
    left, right, top, bottom = min(lefts), max(lefts), min(tops), max(tops)
    inside = [x for x in everything if left <= x[0] <= right and top <= x[1] <= bottom]
    if len(inside) > len(members):
        return [frame for member in members for frame in _frames([member], [member])]
    corner = (left - _WIDTH / 2 - _FRAME, top - _HEIGHT / 2 - _FRAME)
    return [(corner, (right - left + _WIDTH + 2 * _FRAME, bottom - top + _HEIGHT + 2 * _FRAME))]


def _label(node: Node) -> list[str]:
    """The lines in a node, as MXNet writes them."""
    given = node.attrs
    if node.op in ("Convolution", "Deconvolution"):
        strides = _times(given.get("stride", "1"))
        return [node.op, f"{_times(given.get('kernel', ''))}/{strides}, {given.get('num_filter', '')}"]
    if node.op == "FullyConnected":
        return [node.op, given.get("num_hidden", "")]
    if node.op in ("Activation", "LeakyReLU"):
        return [node.op, given.get("act_type", "leaky")]
    if node.op == "Pooling":
        size = f"{_times(given.get('kernel', ''))}/{_times(given.get('stride', '1'))}"
        return [node.op, f"{given.get('pool_type', 'max')}, {size}"]
    return [given.get("op_type", node.name) if node.op == "Custom" else node.name]


def _times(numbers: str) -> str:
    """`(3, 3)` as `3x3`."""
    return "x".join(numbers.strip("()[], ").replace(" ", "").split(","))


def _tip(node: Node) -> str:
    given = [f"{name}={value}" for name, value in node.attrs.items() if not name.startswith("__")]
    shapes = [str(shape) for shape in node.shapes]
    return "\n".join([f"{node.op or 'variable'} {node.name}", *given, *shapes])


def _short(words: str, most: int = 19) -> str:
    return words if len(words) <= most else f"{words[: most - 1]}…"


def _colour(node: Node) -> str:
    return _COLOURS.get(node.op, _OTHERS)


def _flow(source: Node, output: int) -> str:
    shape = product(source.shapes[output]) if output < len(source.shapes) else ""
    return shape + (f"({source.dtypes[output].name})" if output < len(source.dtypes) else "")


def _quoted(words: str) -> str:
    return '"' + words.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def _listed(look: Mapping[str, str]) -> str:
    if any(not name.replace("_", "").isalnum() for name in look):
        raise ArgumentError(f"plot_network: node_attrs are {dict(look)!r}, expected Graphviz's names")
    return " ".join(f"{name}={_quoted(str(value))}" for name, value in sorted(look.items()))
