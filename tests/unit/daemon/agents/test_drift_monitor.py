"""What is new to us of an agent that lives is told once."""

from termvisor.clock import NS
from tests.unit.agents.tracking.tracker_scene import build_signal
from tests.unit.daemon.services.test_agents import live, world  # noqa: F401 - a fixture


async def test_a_version_that_was_never_recorded_is_told_once(world, monkeypatch):  # noqa: F811
    monkeypatch.setattr("termvisor.daemon.agents.drift_monitor.list_recorded_versions", lambda agent: ("1.0",))
    pane = await live(world, "running")
    knowing, drifting = world._components.attending.knowing, world.agents.drifting
    assert await world.agents.drifts() == [], "it told no version"
    knowing.take([build_signal(world.clock.now() + 9, "running", payload={"version": "1.1"})])
    await knowing.stored()
    (drift,) = await world.agents.drifts()
    assert (drift.kind, drift.pane, drift.version) == ("unseen_version", pane, "1.1")
    await drifting.tell()
    await drifting.tell()
    (event,) = await world.history.events(kind="agent_drifted")
    assert (event.pane, event.data["sign"], event.data["version"]) == (pane, "unseen_version", "1.1")
    assert "never recorded, only 1.0" in event.data["what"]


async def test_dialogs_that_no_rule_knows_any_more_are_told_when_they_come_again_and_again(world):  # noqa: F811
    """It says itself that it asks; its screen shows something else; three times."""
    pane = await live(world)
    knowing, drifting = world._components.agent_tracking.knowing, world.agents.drifting
    seconds = iter(range(world.clock.now() - 60 * NS, world.clock.now(), 4 * NS))
    with knowing.turns.subscribe() as turns:

        async def dialog(shown: str) -> list[str]:
            for state, source, tier in (
                ("waiting_approval", "osc", "deterministic"),
                (shown, "screen", "heuristic"),
                ("running", "osc", "deterministic"),
            ):
                knowing.take([build_signal(next(seconds), state, source=source, tier=tier)])
                await knowing.stored()
            for outcome in turns.drain():
                drifting.note(outcome)
            return [drift.kind for drift in await world.agents.drifts()]

        assert [await dialog("idle") for _ in range(3)] == [[], [], ["unseen_dialogs"]]
        await drifting.tell()
        (event,) = await world.history.events(kind="agent_drifted")
        assert (event.pane, event.data["sign"]) == (pane, "unseen_dialogs")
        assert await dialog("waiting_approval") == [], "it is known again"
