"""The recorded scenes of the real programs (tests/recordings): each means today what it meant when it was recorded."""

from typing import get_args

import pytest

from termvisor import agents
from termvisor.agents.adapters.composed_adapter import Composed
from termvisor.model.agent.state import StateName
from tests.recordings.scene import scenes
from tests.unit.agents.adapters import replay

RECORDED = {one.name: one for one in agents.load() if isinstance(one, Composed) and scenes(one.name)}
UNSEEN = {
    "claude_code": "login sign_in_link interruptible agent_listed shell_listed usage_limit_said context_full",
    "codex": "menu_open device_code sign_in_asked stream_cut failed",
    "gemini": "login_asked choice_open compressing",
    "opencode": "always_asked reason_asked working_narrow usage_limit_reached",
    "copilot": "choice_open compacting usage_limit_reached compaction_failed about_to_leave",
}
"""Rules that were written from what the makers say, or from a screen that nobody could bring about again."""
pytestmark = pytest.mark.parametrize("adapter", RECORDED.values(), ids=RECORDED)


def test_a_run_means_what_it_meant(adapter: Composed) -> None:
    assert replay.means_what_it_meant(adapter) == {}


def test_every_signal_may_be_heard_and_is_short(adapter: Composed) -> None:
    assert replay.unheard(adapter) == []


def test_the_same_record_twice_is_the_same_evidence(adapter: Composed) -> None:
    for record in (record for scene in scenes(adapter.name) for record in scene.records):
        assert [one.dedupe_key for one in adapter.read(record)] == [one.dedupe_key for one in adapter.read(record)]


def test_screens_alone_never_show_a_dialog_that_is_not_there(adapter: Composed) -> None:
    assert replay.false_dialogs(adapter) == []


def test_every_state_was_recorded(adapter: Composed) -> None:
    recorded = {scene.expected.get("look") for scene in scenes(adapter.name)}
    assert set(get_args(StateName)) - recorded <= {"unknown"}


def test_all_other_rules_were_seen_to_hold_on_the_real_program(adapter: Composed) -> None:
    assert replay.unseen_rules(adapter) == set(UNSEEN[adapter.name].split())
