"""The agent service of a daemon with one running agent."""

import pytest

from termvisor.daemon.assembly import open_services
from termvisor.model.agent.price import ModelPrice
from termvisor.model.ids import MuxPaneId, PaneId, SignalId
from termvisor.model.terminal.pane import PaneFacts, PaneInstance
from termvisor.settings import Paths, Settings
from tests.pattern_cache import install_pattern_cache
from tests.unit.agents.tracking import toy_agent
from tests.unit.agents.tracking.tracker_scene import build_agent_started, build_signal
from tests.unit.conftest import SERVER


@pytest.fixture
async def services(folder, tmp_path, monkeypatch):
    places = Paths(f"{folder}/c", f"{folder}/d", f"{folder}/r")
    install_pattern_cache(places)
    with toy_agent.install_adapter(tmp_path, monkeypatch):
        async with open_services(places, Settings(tmux_sockets=(), agents_disabled=("codex",))) as one:
            yield one


async def start_agent(services, *states: str) -> PaneId:
    """Start an agent in a pane that reports these states."""
    parts, now = services._components, services.clock.now()
    facts = PaneFacts(mux_id=MuxPaneId("%1"), pid=7)
    pane, _ = await parts.store.panes.find_or_add(PaneInstance(SERVER, MuxPaneId("%1")), facts, now)
    tracker = parts.agent_tracking.tracker
    signals = [build_signal(now + number, state, title="fix the tests") for number, state in enumerate(states)]
    tracker.submit_facts([build_agent_started(now, pane=pane), *signals])
    await tracker.wait_stored()
    return pane


async def test_a_view_has_state_title_need_and_session(services):
    pane = await start_agent(services, "running", "waiting_approval")
    (view,) = (await services.agents.list_views()).values()
    assert (view.state.pane, view.state.value, view.version) == (pane, "waiting_approval", 1)
    assert (view.title, view.need, view.needs_action) == ("fix the tests", "approve", True)
    assert view.session.pane == pane
    assert list(await services.agents.list_views(pane)) == [pane]
    assert await services.agents.list_views(PaneId(999)) == {}


async def test_an_explanation_names_the_evidence_and_it_can_be_read(services):
    pane = await start_agent(services, "running")
    explanation = await services.agents.explain_state(pane)
    (testimony,) = explanation.testimonies
    assert (testimony.source, testimony.role, testimony.said) == ("osc", "decides", "running")
    evidence = await services.agents.find_signals([testimony.evidence, SignalId(999)])
    assert [signal.state for signal in evidence.values()] == ["running"]
    assert await services.agents.explain_state(PaneId(999)) is None


async def test_sources_include_files_and_panes(services):
    pane = await start_agent(services, "running")
    found = {(one.agent, one.source): one for one in await services.agents.list_sources()}
    assert found["", "hook"].where.endswith("/spool/hooks.jsonl")
    assert (found["toy", "osc"].status, found["toy", "osc"].where) == ("well", f"pane {pane}")
    assert found["toy", "osc"].signals == 1


async def test_all_known_programs_are_listed_also_disabled_ones(services):
    kinds = {kind.name: kind for kind in await services.agents.list_kinds()}
    assert (kinds["toy"].is_enabled, kinds["codex"].is_enabled) == (True, False)
    assert kinds["toy"].sources[:2] == ("osc", "hook")
    assert (kinds["toy"].contract_version, kinds["toy"].failures) == ((2, 0), 0)


async def test_changed_settings_apply_at_once(services):
    await start_agent(services, "completed")
    settings = Settings(tmux_sockets=(), agent_completed_for=1.0)
    services._components.agent_tracking.apply_settings(settings)
    assert services._components.agent_tracking.tracker.config.thresholds.completed_for == 10**9


async def test_a_missing_cost_is_estimated_by_the_price_table(services):
    await start_agent(services, "running")
    tracker = services._components.agent_tracking.tracker
    used = {"model": "toy-1", "total": 3_000_000, "input": 2_000_000, "output": 1_000_000}
    tracker.submit_facts([build_signal(services.clock.now() + 9, "running", payload=used)])
    await tracker.wait_stored()
    services._components.settings = Settings(tmux_sockets=(), agent_prices={"toy-*": ModelPrice(input=1, output=5)})
    (view,) = (await services.agents.list_views()).values()
    assert (view.session.usage.cost, view.session.usage.is_estimated) == (7.0, True)
    (session,) = await services.agents.list_sessions()
    assert session.usage == view.session.usage


async def test_a_pane_that_is_gone_has_no_signature(services):
    await start_agent(services, "running")
    (view,) = (await services.agents.list_views()).values()
    assert view.signature.signature_class == "none"
