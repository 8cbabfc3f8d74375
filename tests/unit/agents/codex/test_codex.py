"""Scenes of the real Codex, recorded: each means today what it meant then."""

import pytest

from termvisor.agents.base import CONTRACT_VERSION
from termvisor.agents.codex import ADAPTER
from termvisor.model.source import SOURCES
from tests.recordings.scene import Play, differences, runs


@pytest.mark.parametrize("scenes", runs("codex"), ids=lambda scenes: scenes[0].run)
def test_a_recorded_run_means_what_it_meant(scenes):
    play = Play(ADAPTER, scenes[0].runtime)
    for scene in scenes:
        play.hear(scene.records)
        assert differences(scene.expected, play.meaning(scene.screen)) == {}, scene.name


def test_every_state_was_recorded():
    expected = [scene.expected for scenes in runs("codex") for scene in scenes]
    assert {one["look"] for one in expected if "look" in one} == {
        "error", "waiting_approval", "waiting_input", "running", "completed", "idle", "unknown",
    }  # fmt: skip


def test_it_speaks_the_present_contract():
    assert ADAPTER.contract_version == CONTRACT_VERSION
    assert ADAPTER.sources == SOURCES["codex"]
    assert ADAPTER.env_names == ("HOME", "CODEX_HOME")


def test_a_session_is_taken_up_again_by_its_id():
    assert ADAPTER.resume_command("0199aaaa-0000-7000-8000-000000000001") == (
        "codex",
        "resume",
        "0199aaaa-0000-7000-8000-000000000001",
    )
    assert ADAPTER.resume_command("") == ()
