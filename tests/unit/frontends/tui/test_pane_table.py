"""The content of `visor up`."""

import msgspec
import pytest

from termvisor.errors import Unavailable
from termvisor.frontends.tui import pane_table
from termvisor.frontends.tui.table_view import TableView
from termvisor.ops.system.health import HealthReport
from termvisor.protocol.command_protocol import TerminalInfo
from termvisor.settings import Paths
from tests.unit.fake_daemon import make_private_paths, run_fake_daemon


def test_panes_titles_and_cost_line(daemon: Paths) -> None:
    view = pane_table.build_view(daemon, TerminalInfo(120, True, False))
    assert view.title.split()[:3] == ["ID", "SESSION", "WINDOW"]
    assert [row.split()[:3] for row in view.rows] == [[str(n), "work", f"{n}:window-{n}"] for n in (1, 2, 3)]
    assert view.foot == "3 panes, 0 gaps"
    assert view.head == "daemon 41.0 MB 0.7 % cpu · recorder 9.4 MB 0.1 % · lag 31 ms · 7 forks · db 12.4 MB · 0 gaps"


def test_without_panes_the_way_to_some_is_shown(folder: str) -> None:
    with run_fake_daemon(folder, panes=0) as places:
        view = pane_table.build_view(places, TerminalInfo(120, True, False))
        assert "visor demo" in view.rows[0]
        assert (view.title, view.foot) == ("", "0 panes")


def test_rows_fit_the_width(daemon: Paths) -> None:
    view = pane_table.build_view(daemon, TerminalInfo(70, True, False))
    assert max(len(row) for row in (view.title, *view.rows)) <= 70


def test_a_lost_daemon_is_reported_above_the_last_view(folder: str) -> None:
    with pytest.raises(Unavailable) as raised:
        pane_table.build_view(make_private_paths(folder), TerminalInfo())
    view = pane_table.build_disconnected_view(TableView(head="h", title="t", rows=("r",), foot="f"), raised.value)
    assert "no daemon is running; waiting" in view.problem
    assert (view.title, view.rows) == ("t", ("r",))


def test_alerts_and_a_missing_recorder_are_in_the_cost(daemon: Paths) -> None:
    health = msgspec.convert(pane_table.call_daemon(daemon, "health"), HealthReport)
    worse = msgspec.structs.replace(health, recorder=None, alerts=("disk \x1b[31mfull",))
    assert "no recorder" in pane_table.render_cost(worse)
    assert pane_table.render_cost(worse).endswith("ALERT disk full")
