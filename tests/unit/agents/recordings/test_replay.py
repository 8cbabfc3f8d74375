"""A replay gives the state that a daemon would have shown."""

from pathlib import Path

import pytest

from termvisor.agents.adapters.loader import load_adapters
from termvisor.agents.recordings.open_recording import explain_recording, open_recording, resolve_instant
from termvisor.agents.recordings.replay import replay_recording
from termvisor.agents.state.thresholds import Thresholds
from termvisor.agents.tracking.adapter_registry import AdapterRegistry
from termvisor.agents.tracking.transition import TrackingConfig
from termvisor.clock import NS
from termvisor.errors import AgentNotFound, BadRequest
from tests.recordings.scene import RECORDINGS_FOLDER

CLAUDE = RECORDINGS_FOLDER / "claude_code"
REGISTRY = AdapterRegistry(load_adapters)
CONFIG = TrackingConfig(
    thresholds=Thresholds(sources=REGISTRY.sources), build_resume_command=REGISTRY.build_resume_command
)


def explain(path: Path, at: str = ""):
    recording = open_recording(str(path))
    return replay_recording(recording, resolve_instant(recording, at), REGISTRY, CONFIG)


def test_a_moment_is_replayed_with_the_earlier_ones() -> None:
    found = explain(CLAUDE / "approval_asked.json")
    assert (found.view.state.value, found.view.state.evidence_mode) == ("waiting_approval", "deterministic")
    assert (found.kind, found.moments > 1) == ("scenes", True)
    assert {one.source for one in found.signals} >= {"registry", "hook", "screen"}


def test_contradicting_sources_are_listed() -> None:
    roles = {one.source: one.role for one in explain(CLAUDE / "approval_asked.json").explanation.testimonies}
    assert roles["transcript"] == "overtaken", "a transcript does not show dialogs"
    assert "decides" in roles.values()


def test_before_the_first_record_the_state_is_unknown() -> None:
    found = explain(CLAUDE / "approval_asked.json", "1s")
    assert (found.view.state.value, found.view.state.reason, found.moments) == ("unknown", "no_signal", 0)


def test_after_the_end_the_last_screen_is_repeated() -> None:
    found = explain(CLAUDE / "completed.json", "10m")
    assert found.view.state.value == "idle"
    screen = next(one for one in found.explanation.testimonies if one.source == "screen")
    assert screen.age < 10 * NS


def test_an_instant_before_the_start_is_rejected() -> None:
    with pytest.raises(BadRequest, match="before the start of the recording"):
        explain(CLAUDE / "completed.json", "2020-01-01T00:00:00Z")


def test_an_unknown_agent_is_rejected() -> None:
    with pytest.raises(BadRequest, match="unknown agent clod"):
        explain_recording(str(CLAUDE / "completed.json"), "clod", "")


def test_an_exited_agent_is_not_explained(tmp_path: Path) -> None:
    path = tmp_path / "film.cast"
    head = '{"version": 3, "term": {"cols": 20, "rows": 2}, "timestamp": 100}'
    began, over = '[0, "m", "agent_began runtime=1 agent=codex pid=7"]', '[5, "m", "agent_ended agent=codex"]'
    path.write_text("\n".join([head, '[0, "o", "\\u001b[1;1Hhello"]', began, over, '[1, "o", "\\u001b[2;1H$"]']))
    assert explain(path, "2s").view.state.reason == "unknown_screen"
    with pytest.raises(AgentNotFound, match="had exited"):
        explain(path)
