"""The listed versions are those of the recordings."""

import os
from pathlib import Path

import pytest

from termvisor.agents import adapters
from termvisor.agents.adapters.description_files import load_builtin_descriptions
from termvisor.agents.adapters.loader import list_recorded_versions
from tests.recordings.scene import load_scenes
from tests.recordings.version_recording import list_recordings, load_recording

RECORDED = ("claude_code", "codex", "gemini", "opencode", "copilot")


@pytest.mark.parametrize("agent", RECORDED)
def test_the_listed_versions_are_those_of_the_recordings(agent: str) -> None:
    """Compare with the version files, which `make golden` rewrites."""
    replayed = {load_recording(path).version for path in list_recordings(agent)}
    found = sorted(({scene.version for scene in load_scenes(agent)} | replayed) - {""})
    if os.environ.get("GOLDEN") == "write":
        path = Path(adapters.__file__).parent / agent / "versions"
        path.write_text("\n".join(found) + "\n", "ascii")
        list_recorded_versions.cache_clear()
    assert found != []
    assert list(list_recorded_versions(agent)) == found


def test_the_proven_versions_of_described_agents_are_those_of_the_recordings() -> None:
    described = load_builtin_descriptions().adapters
    recorded = {name: {load_recording(path).version for path in list_recordings(name)} for name in described}
    assert {name: set(list_recorded_versions(name)) for name in described} == recorded


@pytest.mark.parametrize("agent", ["cursor", "generic", "", "../codex", "toy"])
def test_an_agent_without_recordings_has_no_versions(agent: str) -> None:
    assert list_recorded_versions(agent) == ()
