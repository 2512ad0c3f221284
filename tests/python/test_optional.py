"""With optional packages: graphs of networkx, tables of pandas, the explorer in a notebook of IPython."""
import numpy as np
import pytest

import trivance as tv

networkx = pytest.importorskip("networkx")
pandas = pytest.importorskip("pandas")
pytest.importorskip("IPython")


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
    assert choice.order in ("snake",
                            "thirds") and tv.Simulator(choice.schedule()).time("64K") == pytest.approx(choice.time)


def test_nodes_that_are_numbers_of_numpy():
    assert tv.Network.from_networkx(networkx.cycle_graph(np.arange(9))).torus == tv.Torus("9")


@pytest.mark.parametrize("graph", [networkx.complete_graph(5), networkx.Graph(), networkx.Graph([("a", "b")]),
                                   networkx.Graph([((0, 0), (1, 1))]), networkx.Graph([((0,), (0, 1))]),
                                   networkx.hypercube_graph(9)])
def test_other_graphs_are_refused(graph):
    with pytest.raises(tv.ArgumentError):
        tv.Network.from_networkx(graph)


def test_edges_without_bandwidth_are_cut():
    graph = networkx.cycle_graph(9)
    networkx.set_edge_attributes(graph, "100Gb/s", "bandwidth")
    graph[3][4]["bandwidth"] = 0
    net = tv.Network.from_networkx(graph)
    assert net.plan("64K").time > tv.Network("9", bandwidth="100Gb/s").plan("64K").time
    assert net == tv.Network("9", bandwidth="100Gb/s", cuts=["3:+0"])


@pytest.mark.filterwarnings("error")
def test_pandas_frame():
    comparison = tv.compare("9", ["trivance-l", "trivance-b"], sizes="1K:1M")
    assert isinstance(comparison.frame(), pandas.DataFrame) and comparison.frame().shape == (11, 2)
    assert isinstance(tv.Schedule("ring", "9").simulate(sizes="1K"), pandas.DataFrame)
    assert "trivance-l" in comparison._repr_html_()


def test_explorer_in_a_notebook(tmp_path, monkeypatch):
    from trivance import _explorer
    (tmp_path / "page.html").write_text("page")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(_explorer, "_find", lambda: str(tmp_path / "page.html"))
    frame = tv.Network("8x8m", alpha="2us", cuts=["3:+0"], slow={"20:+1": 4}).explore("1MiB", height=500)
    address = frame.src.split("#")[1]
    assert "torus=8x8m" in address and "bytes=1048576" in address and "alpha=2000" in address
    assert address.endswith("links=3:+0:cut,20:+1:4x") and (tmp_path / "trivance-explorer.html").read_text() == "page"
