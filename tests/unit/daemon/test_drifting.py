"""What is new to us of an agent that lives is told once."""

from tests.unit.daemon.test_agents import live, world  # noqa: F401 - a fixture
from tests.unit.pipeline.knowing.house import says


async def test_a_version_that_was_never_recorded_is_told_once(world, monkeypatch):  # noqa: F811
    monkeypatch.setattr("termvisor.daemon.drifting.recorded", lambda agent: ("1.0",))
    pane = await live(world, "running")
    knowing, drifting = world._parts.attending.knowing, world.agents.drifting
    assert await world.agents.drifts() == [], "it told no version"
    knowing.take([says(world.clock.now() + 9, "running", payload={"version": "1.1"})])
    await knowing.stored()
    (drift,) = await world.agents.drifts()
    assert (drift.kind, drift.pane, drift.version) == ("unseen_version", pane, "1.1")
    await drifting.tell()
    await drifting.tell()
    (event,) = await world.history.events(kind="agent_drifted")
    assert (event.pane, event.data["sign"], event.data["version"]) == (pane, "unseen_version", "1.1")
    assert "never recorded, only 1.0" in event.data["what"]
