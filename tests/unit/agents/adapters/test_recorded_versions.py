"""The listed versions are those of the recordings."""

import os
from pathlib import Path

import pytest

from termvisor.agents import adapters
from termvisor.agents.adapters.loader import list_recorded_versions
from tests.recordings.scene import load_scenes

RECORDED = ("claude_code", "codex", "gemini", "opencode", "copilot")


@pytest.mark.parametrize("agent", RECORDED)
def test_the_known_versions_are_those_that_were_recorded(agent: str) -> None:
    """`make golden` writes the files anew."""
    found = sorted({scene.version for scene in load_scenes(agent)} - {""})
    if os.environ.get("GOLDEN") == "write":
        path = Path(adapters.__file__).parent / agent / "versions"
        path.write_text("\n".join(found) + "\n", "ascii")
        list_recorded_versions.cache_clear()
    assert found != []
    assert list(list_recorded_versions(agent)) == found


@pytest.mark.parametrize("agent", ["cursor", "generic", "", "../codex", "toy"])
def test_of_an_agent_without_recordings_no_version_is_known(agent: str) -> None:
    assert list_recorded_versions(agent) == ()
