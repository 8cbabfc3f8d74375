"""The recorded scenes of the real programs (tests/recordings) still give the recorded states."""

from typing import get_args

import pytest

from termvisor.agents.adapters import loader
from termvisor.agents.adapters.composed_adapter import ComposedAdapter
from termvisor.model.agent.state import StateName
from tests.recordings.scene import load_scenes
from tests.unit.agents.adapters import scene_checks

RECORDED = {
    one.name: one for one in loader.load_adapters() if isinstance(one, ComposedAdapter) and load_scenes(one.name)
}
UNSEEN = {
    "claude_code": "login sign_in_link interruptible agent_listed shell_listed usage_limit_said context_full answered",
    "codex": "menu_open device_code sign_in_asked stream_cut failed",
    "gemini": "login_asked choice_open compressing answered_hooks_shown",
    "opencode": "always_asked reason_asked working_narrow usage_limit_reached",
    "copilot": "choice_open compacting usage_limit_reached compaction_failed about_to_leave",
}
"""Rules without a scene: from documentation, a screen that could not be reproduced, or a replayed version."""
pytestmark = pytest.mark.parametrize("adapter", RECORDED.values(), ids=RECORDED)


def test_recorded_runs_give_the_recorded_states(adapter: ComposedAdapter) -> None:
    assert scene_checks.find_changed_scenes(adapter) == {}


def test_signals_of_recordings_are_accepted_and_short(adapter: ComposedAdapter) -> None:
    assert scene_checks.find_refused_signals(adapter) == []


def test_reading_a_record_twice_gives_the_same_keys(adapter: ComposedAdapter) -> None:
    for record in (record for scene in load_scenes(adapter.name) for record in scene.records):
        assert [one.dedupe_key for one in adapter.read_record(record)] == [
            one.dedupe_key for one in adapter.read_record(record)
        ]


def test_recorded_screens_show_exactly_the_recorded_dialogs(adapter: ComposedAdapter) -> None:
    assert scene_checks.find_false_dialogs(adapter) == []


def test_every_state_was_recorded(adapter: ComposedAdapter) -> None:
    recorded = {scene.expected.get("look") for scene in load_scenes(adapter.name)}
    assert set(get_args(StateName)) - recorded <= {"unknown"}


def test_only_the_listed_rules_match_no_recorded_screen(adapter: ComposedAdapter) -> None:
    assert scene_checks.find_unseen_rules(adapter) == set(UNSEEN[adapter.name].split())
