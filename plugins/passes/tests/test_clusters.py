"""Merges of clusters keep the contracted graph without cycles, and refuse nothing else."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter

from hypothesis import given
from hypothesis import strategies as st

from operad.graph import Entry, GradAdd, Graph, OpNode, Variable
from operad_passes import Clusters


@st.composite
def merges(draw):
    """A random graph, and pairs of nodes to be merged."""
    count = draw(st.integers(2, 12))
    sources = [
        draw(st.sets(st.integers(0, node - 1), max_size=3)) if node else set() for node in range(count)
    ]
    nodes = st.integers(0, count - 1)
    return sources, draw(st.lists(st.tuples(nodes, nodes), max_size=20))


def has_order(sources, cluster_of):
    """Whether the contracted graph has no cycle: by brute force."""
    contracted = {end: set() for end in cluster_of}
    for node, found in enumerate(sources):
        contracted[cluster_of[node]] |= {cluster_of[source] for source in found} - {cluster_of[node]}
    try:
        TopologicalSorter(contracted).prepare()
    except CycleError:
        return False
    return True


@given(merges())
def test_a_merge_happens_where_it_leaves_no_cycle_and_nowhere_else(drawn):
    sources, pairs = drawn
    clusters, cluster_of = Clusters(sources), list(range(len(sources)))
    for one, other in pairs:
        merged = [cluster_of[one] if end == cluster_of[other] else end for end in cluster_of]
        is_allowed = has_order(sources, merged)
        assert clusters.can_merge(one, other) is is_allowed
        assert clusters.merge(one, other) is is_allowed
        cluster_of = merged if is_allowed else cluster_of
        groups = clusters.groups()
        assert sorted(map(sorted, groups)) == sorted(
            [node for node, own in enumerate(cluster_of) if own == end] for end in set(cluster_of)
        )
        place = {node: i for i, group in enumerate(groups) for node in group}
        assert all(place[source] <= place[node] for node, found in enumerate(sources) for source in found)


def test_clusters_that_would_wait_for_each_other_are_not_made():
    # Each of the two is fine by itself: 0 -> 3 and 1 -> 2, with 0 -> 2 and 1 -> 3 between them.
    clusters = Clusters([(), (), (0, 1), (0, 1)])
    assert clusters.merge(0, 3)
    assert not clusters.merge(1, 2)
    assert clusters.groups() == [[1], [0, 3], [2]]


def test_nodes_wait_for_what_they_read_and_for_their_control_dependencies():
    x = Variable("x")
    nodes = [OpNode(GradAdd(num_args=1), f"n{i}", [Entry(x)], {}) for i in range(3)]
    nodes[1].control_deps = [nodes[0]]
    nodes[2].control_deps = [nodes[1]]
    graph = Graph([Entry(node) for node in nodes])
    first, middle, last = (graph.node_ids[node] for node in nodes)
    clusters = Clusters.of_graph(graph)
    assert not clusters.can_merge(first, last)
    assert clusters.merge(first, middle)
    assert clusters.merge(first, last)
    assert clusters.members(last) == sorted([first, middle, last])
