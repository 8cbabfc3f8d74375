"""The evidence that identifies the agent of a pane."""

import pytest
from msgspec.structs import replace

from termvisor.agents.tracking.agent_discovery import PaneInfo
from termvisor.daemon.assembly import open_services
from termvisor.daemon.services.agents import PaneIdentifier
from termvisor.model.agent.agent_process import PaneLocation
from termvisor.model.agent.state import AgentState
from termvisor.model.ids import PaneId, RuntimeId
from termvisor.settings import Paths, Settings, make_instance_folders

STATE = AgentState(runtime=RuntimeId(1), pane=PaneId(1), agent="codex")


def standing(command: str, title: str = "") -> PaneInfo:
    return PaneInfo(pane=PaneId(1), pid=7, command=command, title=title, place=PaneLocation("local", "/tmp/x", "%1"))


@pytest.fixture
async def signatures(folder):
    places = Paths(f"{folder}/c", f"{folder}/d", f"{folder}/r")
    make_instance_folders(places)
    async with open_services(places, Settings(tmux_sockets=())) as services:
        yield PaneIdentifier(services._components)


async def test_traces_are_weighed(signatures) -> None:
    expected = {
        standing("codex"): ("heuristic", "cmd_match", 0.86),
        standing("node", "codex"): ("none", "signature_guard_rejected", 0.0),
        standing("bash", "codex"): ("none", "signature_guard_rejected", 0.0),
        standing("vim"): ("none", "signature_inconclusive", 0.0),
    }
    found = {one: signatures.identify(one) for one in expected}
    told = {one: (a.signature_class, a.signature_reason, a.signature_confidence) for one, a in found.items()}
    assert told == expected
    assert found[standing("bash", "codex")].signature_inputs.title_match == "codex"


async def test_who_has_spoken_itself_needs_no_other_trace(signatures) -> None:
    spoken = replace(STATE, binding="managed_deterministic_stale")
    found = signatures.identify(standing("bash"), spoken)
    assert (found.signature_class, found.signature_reason, found.agent) == ("deterministic", "handshake", "codex")


async def test_what_is_remembered_of_names_is_bounded(signatures) -> None:
    for number in range(3000):
        signatures.identify(standing("vim", f"title {number}"))
    assert len(signatures._agents_by_title) <= 1024
