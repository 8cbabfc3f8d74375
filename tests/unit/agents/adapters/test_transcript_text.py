"""Messages in recordings of real agents have a role and a unique key."""

import pytest

from termvisor.agents.adapters.adapter import SourceRecord
from termvisor.agents.adapters.loader import load_adapters
from termvisor.agents.tracking.adapter_registry import AdapterRegistry
from tests.recordings.scene import load_runs

CIRCLE = AdapterRegistry(load_adapters)


def spoken(agent: str) -> list:
    records = [record for run in load_runs(agent) for scene in run for record in scene.records]
    return [words for record in records for words in CIRCLE.read_transcript(agent, record)]


@pytest.mark.parametrize("agent", ["claude_code", "codex", "gemini", "copilot"])
def test_both_sides_of_a_recorded_conversation_are_found(agent: str) -> None:
    found = spoken(agent)
    assert {one.role for one in found} == {"user", "assistant"}
    assert all(one.session and one.key and one.text.strip() for one in found)
    assert any(one.text.startswith("MODEL ") for one in found if one.role == "user")


@pytest.mark.parametrize("agent", ["claude_code", "codex", "gemini", "copilot", "opencode", "cursor", "generic"])
@pytest.mark.parametrize("text", ["", "{", "[]", "7", '{"payload": 7, "data": [], "message": "x", "v": 1}'])
@pytest.mark.parametrize("source", ["transcript", "hook", "session_file"])
def test_whatever_is_written_there_does_no_harm(agent: str, text: str, source: str) -> None:
    assert CIRCLE.read_transcript(agent, SourceRecord(source=source, text=text, at=1)) == ()
    assert CIRCLE.failure_counts == {}
