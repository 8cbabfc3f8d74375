"""The evidence that identifies the agent of a pane."""

import pytest
from msgspec.structs import replace

from termvisor.agents.tracking.agent_discovery import PaneInfo
from termvisor.daemon.assembly import open_services
from termvisor.daemon.services.agents import PaneIdentifier
from termvisor.model.agent.agent_process import AgentProcess, PaneLocation
from termvisor.model.agent.state import AgentState
from termvisor.model.ids import PaneId, RuntimeId
from termvisor.settings import Paths, Settings, make_instance_folders

STATE = AgentState(runtime=RuntimeId(1), pane=PaneId(1), agent="codex")


def build_pane_view(command: str, title: str = "") -> PaneInfo:
    return PaneInfo(pane=PaneId(1), pid=7, command=command, title=title, place=PaneLocation("local", "/tmp/x", "%1"))


@pytest.fixture
async def signatures(folder):
    places = Paths(f"{folder}/c", f"{folder}/d", f"{folder}/r")
    make_instance_folders(places)
    async with open_services(places, Settings(tmux_sockets=())) as services:
        yield PaneIdentifier(services._components)


async def test_agents_are_identified_by_command_and_title(signatures) -> None:
    expected = {
        build_pane_view("codex"): ("none", "signature_guard_rejected", 0.0),
        build_pane_view("node", "codex"): ("none", "signature_guard_rejected", 0.0),
        build_pane_view("bash", "codex"): ("none", "signature_guard_rejected", 0.0),
        build_pane_view("vim"): ("none", "signature_inconclusive", 0.0),
    }
    found = {one: signatures.identify(one) for one in expected}
    results = {one: (a.signature_class, a.signature_reason, a.signature_confidence) for one, a in found.items()}
    assert results == expected
    assert found[build_pane_view("bash", "codex")].signature_inputs.title_match == "codex"
    assert found[build_pane_view("codex")].signature_inputs.cmd_match == "codex"


async def test_an_agent_known_by_its_command_alone_is_identified_by_it(signatures) -> None:
    pane_info, tracker = build_pane_view("codex"), signatures.components.agent_tracking.tracker
    agent_process = AgentProcess(
        id=RuntimeId(1), pane=PaneId(1), place=pane_info.place, agent="codex", pid=50, started_at=1
    )
    tracker.agents_by_pane = {PaneId(1): agent_process}
    found = signatures.identify(pane_info, STATE)
    assert (found.agent, found.signature_reason, found.signature_confidence) == ("codex", "cmd_match", 0.86)
    tracker.agents_by_pane = {PaneId(1): replace(agent_process, pid_started=9)}
    assert signatures.identify(pane_info, STATE).signature_reason == "provider_hint"


async def test_an_agent_with_its_own_signals_is_identified_by_them(signatures) -> None:
    spoken = replace(STATE, binding="managed_deterministic_stale")
    found = signatures.identify(build_pane_view("bash"), spoken)
    assert (found.signature_class, found.signature_reason, found.agent) == ("deterministic", "handshake", "codex")


async def test_the_title_cache_is_bounded(signatures) -> None:
    for number in range(3000):
        signatures.identify(build_pane_view("vim", f"title {number}"))
    assert len(signatures._agents_by_title) <= 1024
