"""Drift of running agents is reported once."""

from termvisor.backends.pane_source import PaneCapture
from termvisor.clock import NS
from tests.unit.agents.tracking.tracker_scene import build_signal
from tests.unit.daemon.services.test_agents import services, start_agent  # noqa: F401 - a fixture


async def test_an_unrecorded_version_is_reported_once(services, monkeypatch):  # noqa: F811
    monkeypatch.setattr("termvisor.daemon.agents.drift_monitor.list_recorded_versions", lambda agent: ("1.0",))
    pane = await start_agent(services, "running")
    tracker, drift_monitor = services._components.agent_tracking.tracker, services.agents.drift_monitor
    assert await services.agents.list_drifts() == [], "it reported no version"
    tracker.submit_facts([build_signal(services.clock.now() + 9, "running", payload={"version": "1.1"})])
    await tracker.wait_stored()
    (drift,) = await services.agents.list_drifts()
    assert (drift.kind, drift.pane, drift.version) == ("unseen_version", pane, "1.1")
    await drift_monitor.report_drifts()
    await drift_monitor.report_drifts()
    (event,) = await services.history.list_events(kind="agent_drifted")
    assert (event.pane, event.data["sign"], event.data["version"]) == (pane, "unseen_version", "1.1")
    assert "has no recordings, only 1.0" in event.data["what"]


async def test_a_version_between_recorded_ones_is_no_drift(services, monkeypatch):  # noqa: F811
    monkeypatch.setattr("termvisor.daemon.agents.drift_monitor.list_recorded_versions", lambda agent: ("1.0", "1.2"))
    pane = await start_agent(services)
    tracker = services._components.agent_tracking.tracker
    (view,) = (await services.agents.list_views(pane)).values()
    assert (view.program.status, "signals" in view.program.unproven) == ("unknown", True)
    tracker.submit_facts([build_signal(services.clock.now() + 9, "running", payload={"version": "1.1"})])
    await tracker.wait_stored()
    assert await services.agents.list_drifts() == []
    (view,) = (await services.agents.list_views(pane)).values()
    assert (view.program.version, view.program.status) == ("1.1", "between_recorded")
    assert "look" in view.program.unproven
    assert "signals" not in view.program.unproven, "it has reported a state"
    assert "recognise" not in view.program.unproven
    tracker.submit_facts([build_signal(services.clock.now() + 10, "running", payload={"version": "1.2"})])
    await tracker.wait_stored()
    (view,) = (await services.agents.list_views(pane)).values()
    assert (view.program.status, view.program.unproven) == ("recorded", ())


async def test_screens_that_were_never_recognized_are_reported(services):  # noqa: F811
    pane = await start_agent(services)
    tracking, now = services._components.agent_tracking, services.clock.now()
    for second in range(-90, 1, 3):
        capture = PaneCapture(rows=(f"what is this {second}",))
        tracking.agent_screens.read_screen(pane, capture, now + second * NS, 2.0)
    await tracking.tracker.wait_stored()
    (drift,) = await services.agents.list_drifts()
    assert (drift.kind, drift.description) == (
        "strange_screens",
        "unknown version: no rule matches its screens (31 of 31)",
    )


async def test_repeated_unrecognized_dialogs_are_reported(services):  # noqa: F811
    """Three times the agent reports a dialog that its screen does not show."""
    pane = await start_agent(services)
    tracker, drift_monitor = services._components.agent_tracking.tracker, services.agents.drift_monitor
    seconds = iter(range(services.clock.now() - 60 * NS, services.clock.now(), 4 * NS))
    with tracker.outcomes.subscribe() as outcomes:

        async def dialog(shown: str) -> list[str]:
            for state, source, tier in (
                ("waiting_approval", "osc", "deterministic"),
                (shown, "screen", "heuristic"),
                ("running", "osc", "deterministic"),
            ):
                tracker.submit_facts([build_signal(next(seconds), state, source=source, tier=tier)])
                await tracker.wait_stored()
            for outcome in outcomes.drain():
                drift_monitor.count_dialogs(outcome)
            return [drift.kind for drift in await services.agents.list_drifts()]

        assert [await dialog("idle") for _ in range(3)] == [[], [], ["unseen_dialogs"]]
        await drift_monitor.report_drifts()
        (event,) = await services.history.list_events(kind="agent_drifted")
        assert (event.pane, event.data["sign"]) == (pane, "unseen_dialogs")
        assert await dialog("waiting_approval") == [], "it is recognized again"
