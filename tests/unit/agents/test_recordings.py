"""The recorded scenes of the real programs (tests/recordings): each means today what it meant when it was recorded."""

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
    "claude_code": "login sign_in_link interruptible agent_listed shell_listed usage_limit_said context_full",
    "codex": "menu_open device_code sign_in_asked stream_cut failed",
    "gemini": "login_asked choice_open compressing",
    "opencode": "always_asked reason_asked working_narrow usage_limit_reached",
    "copilot": "choice_open compacting usage_limit_reached compaction_failed about_to_leave",
}
"""Rules that were written from what the makers say, or from a screen that nobody could bring about again."""
pytestmark = pytest.mark.parametrize("adapter", RECORDED.values(), ids=RECORDED)


def test_a_run_means_what_it_meant(adapter: ComposedAdapter) -> None:
    assert scene_checks.find_changed_scenes(adapter) == {}


def test_every_signal_may_be_heard_and_is_short(adapter: ComposedAdapter) -> None:
    assert scene_checks.find_refused_signals(adapter) == []


def test_the_same_record_twice_is_the_same_evidence(adapter: ComposedAdapter) -> None:
    for record in (record for scene in load_scenes(adapter.name) for record in scene.records):
        assert [one.dedupe_key for one in adapter.read_record(record)] == [
            one.dedupe_key for one in adapter.read_record(record)
        ]


def test_screens_alone_never_show_a_dialog_that_is_not_there(adapter: ComposedAdapter) -> None:
    assert scene_checks.find_false_dialogs(adapter) == []


def test_every_state_was_recorded(adapter: ComposedAdapter) -> None:
    recorded = {scene.expected.get("look") for scene in load_scenes(adapter.name)}
    assert set(get_args(StateName)) - recorded <= {"unknown"}


def test_all_other_rules_were_seen_to_hold_on_the_real_program(adapter: ComposedAdapter) -> None:
    assert scene_checks.find_unseen_rules(adapter) == set(UNSEEN[adapter.name].split())
