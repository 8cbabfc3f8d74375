"""Messages in recordings of real agents have a role and a unique key."""

import pytest

from termvisor.agents.adapters.adapter import SourceRecord
from termvisor.agents.adapters.loader import load_adapters
from termvisor.agents.tracking.adapter_registry import AdapterRegistry
from tests.recordings.scene import load_runs

REGISTRY = AdapterRegistry(load_adapters)


def read_messages(agent: str) -> list:
    records = [record for run in load_runs(agent) for scene in run for record in scene.records]
    return [message for record in records for message in REGISTRY.read_transcript(agent, record)]


@pytest.mark.parametrize("agent", ["claude_code", "codex", "gemini", "copilot"])
def test_messages_of_user_and_assistant_are_found_in_recordings(agent: str) -> None:
    found = read_messages(agent)
    assert {one.role for one in found} == {"user", "assistant"}
    assert all(one.session and one.key and one.text.strip() for one in found)
    assert any(one.text.startswith("MODEL ") for one in found if one.role == "user")


@pytest.mark.parametrize("agent", ["claude_code", "codex", "gemini", "copilot", "opencode", "cursor", "generic"])
@pytest.mark.parametrize("text", ["", "{", "[]", "7", '{"payload": 7, "data": [], "message": "x", "v": 1}'])
@pytest.mark.parametrize("source", ["transcript", "hook", "session_file"])
def test_malformed_records_give_no_messages_and_no_failures(agent: str, text: str, source: str) -> None:
    assert REGISTRY.read_transcript(agent, SourceRecord(source=source, text=text, at=1)) == ()
    assert REGISTRY.failure_counts == {}
