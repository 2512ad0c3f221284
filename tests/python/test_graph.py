"""Graphs of networkx."""
import pytest

import trivance as tv

networkx = pytest.importorskip("networkx")


@pytest.mark.parametrize("torus", ["9", "9m", "4x3", "4x3m", "2x3", "2mx3", "2x2", "3x3x3m", "5x1"])
def test_round_trip(torus):
    net = tv.Network(torus)
    graph = net.to_networkx()
    assert len(graph) == net.torus.size and tv.Network.from_networkx(graph).torus == net.torus
    assert not tv.Network.from_networkx(graph).links


def test_cut_and_slow_links():
    net = tv.Network("4x4", cuts=["5:+1"], slow={"2:-0": 4}, bandwidth="100Gb/s")
    graph = net.to_networkx()
    edge = graph[2][14][1]
    assert (edge["port"], edge["factor"], edge["bandwidth"]) == ("-0", 4, 25e9)
    assert not graph.has_edge(5, 6)
    back = tv.Network.from_networkx(graph)
    assert set(back.links) == set(net.links) and back.plan("1M").time == net.plan("1M").time


def test_grid_graphs():
    assert tv.Network.from_networkx(networkx.grid_graph([4, 3])).torus == tv.Torus("3mx4m")
    assert tv.Network.from_networkx(networkx.cycle_graph(9)).torus == tv.Torus("9")
    assert tv.Network.from_networkx(networkx.path_graph(9)).torus == tv.Torus("9m")
    hole = networkx.grid_graph([4, 4])
    hole.remove_node((3, 3))
    net = tv.Network.from_networkx(hole, alpha="2us")
    assert sorted(net.nodes) == list(range(15)) and net.options["alpha"] == "2us"
    choice = net.plan("64K")
    assert choice.order in ("snake", "thirds") and tv.Simulator(choice.schedule()).time("64K") == pytest.approx(choice.time)


def test_nodes_that_are_numbers_of_numpy():
    numpy = pytest.importorskip("numpy")
    assert tv.Network.from_networkx(networkx.cycle_graph(numpy.arange(9))).torus == tv.Torus("9")


@pytest.mark.parametrize("graph", [networkx.complete_graph(5), networkx.Graph(), networkx.Graph([("a", "b")]),
                                   networkx.Graph([((0, 0), (1, 1))]), networkx.Graph([((0,), (0, 1))]),
                                   networkx.hypercube_graph(9)])
def test_other_graphs_are_refused(graph):
    with pytest.raises(tv.ArgumentError):
        tv.Network.from_networkx(graph)
