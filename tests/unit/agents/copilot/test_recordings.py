"""The recorded scenes of the real program (tests/recordings/copilot)."""

from termvisor.agents.copilot import ADAPTER
from termvisor.agents.copilot.look import RULES
from tests.unit.agents import replay


def test_every_scene_means_what_it_meant() -> None:
    assert replay.means_what_it_meant(ADAPTER) == {}


def test_every_signal_may_be_heard_and_is_short() -> None:
    assert replay.unheard(ADAPTER) == []


def test_screens_alone_never_show_a_dialog_that_is_not_there() -> None:
    assert replay.false_dialogs(ADAPTER) == []


def test_most_rules_were_seen_to_hold_on_the_real_program() -> None:
    unseen = replay.unseen_rules(ADAPTER, [rule.name for rule in RULES])
    assert unseen <= {
        "folder_not_trusted",
        "choice_open",
        "compacting",
        "retrying",
        "usage_limit_reached",
        "request_failed",
        "about_to_leave",
    }
