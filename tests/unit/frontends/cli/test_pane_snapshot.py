import msgspec
import pytest
from msgspec.structs import replace

from termvisor.clock import NS, parse_timestamp
from termvisor.errors import Unavailable
from termvisor.frontends.cli import pane_snapshot
from termvisor.ops.api.dispatch import call_operation
from termvisor.ops.panes.list_panes import ActivityItem, PaneListing
from termvisor.ops.system.health import HealthReport
from termvisor.settings import Paths
from termvisor.testing.sample_services import build_sample_services
from tests.unit.fake_daemon import make_private_paths, run_fake_daemon


def test_a_snapshot_has_panes_and_the_cost_line(daemon: Paths) -> None:
    snapshot = pane_snapshot.fetch_snapshot(daemon)
    assert [pane.identity.id for pane in snapshot.panes] == [1, 2, 3]
    assert (
        snapshot.head == "daemon 41.0 MB 0.7 % cpu · recorder 9.4 MB 0.1 % · lag 31 ms · 7 forks · db 12.4 MB · 0 gaps"
    )


def test_without_panes_the_demo_is_suggested(folder: str) -> None:
    with run_fake_daemon(folder, panes=0) as places:
        assert "visor demo" in pane_snapshot.fetch_snapshot(places).empty


def test_without_a_daemon_there_is_no_snapshot(folder: str) -> None:
    with pytest.raises(Unavailable, match="no daemon is running"):
        pane_snapshot.fetch_snapshot(make_private_paths(folder))


def test_alerts_and_a_missing_recorder_are_in_the_cost(daemon: Paths) -> None:
    health = msgspec.convert(pane_snapshot.call_daemon(daemon, "health"), HealthReport)
    worse = msgspec.structs.replace(health, recorder=None, alerts=("disk \x1b[31mfull",))
    assert "no recorder" in pane_snapshot.render_cost(worse)
    assert pane_snapshot.render_cost(worse).endswith("ALERT disk full")


async def test_who_needs_you_comes_first_then_agents_then_shells() -> None:
    listing = await call_operation(await build_sample_services(op="list_panes"), "list_panes", {})
    assert isinstance(listing, PaneListing)
    agents = [pane.agent for pane in pane_snapshot.sort_panes(listing, {})]
    assert agents == ["claude_code", "codex", "gemini", "opencode", None]


@pytest.mark.parametrize(
    ("agent", "age", "is_known"),
    [("claude_code", 2, False), ("claude_code", 11, True), (None, 2, True), (None, 1, False)],
)
async def test_the_first_table_waits_longer_for_the_state_of_an_agent(
    agent: str | None, age: int, is_known: bool
) -> None:
    listing = await call_operation(await build_sample_services(), "list_panes", {})
    assert isinstance(listing, PaneListing)
    since = "2026-01-01T00:00:00Z"
    pane = replace(
        listing.items[0], agent=agent, state="unknown", state_since=since, heard_by="pipe", activity=ActivityItem()
    )
    snapshot = pane_snapshot.FleetSnapshot(head="", panes=(pane,), summary="", empty="")
    assert pane_snapshot.has_known_states(snapshot, parse_timestamp(since, 0) + age * NS) == is_known
