"""Every recorded scene of the real program means today what it meant when it was recorded."""

from collections import Counter
from collections.abc import Sequence

import pytest

from termvisor.agents.claude_code import ADAPTER
from termvisor.agents.claude_code.look import RULES
from termvisor.state.admission import refused
from termvisor.state.measure import DEFAULT
from tests.recordings.scene import Play, Scene, differences, runs, scenes

ALL = scenes("claude_code")
WAITING = ("waiting_approval", "waiting_input")


@pytest.mark.parametrize("run", runs("claude_code"), ids=lambda run: run[0].run)
def test_a_run_means_what_it_meant(run: Sequence[Scene]) -> None:
    play = Play(ADAPTER, run[0].runtime)
    for scene in run:
        play.hear(scene.records)
        assert (scene.name, differences(scene.expected, play.meaning(scene.screen))) == (scene.name, {})
        play.next_scene()
    assert play.knowledge.dropped.keys() <= {"late_event"}


def test_every_signal_may_be_heard_and_is_short() -> None:
    said = [signal for scene in ALL for record in scene.records for signal in ADAPTER.read(record)]
    assert len(said) > 150
    assert [signal for signal in said if refused(signal, DEFAULT)] == []
    assert max(len(str(value)) for signal in said for value in signal.payload.values()) <= 2000


def test_screens_alone_never_show_a_dialog_that_is_not_there() -> None:
    looks = [
        (scene.name, ADAPTER.look(scene.screen).state in WAITING, str(scene.expected["state"]) in WAITING)
        for scene in ALL
        if "state" in scene.expected and scene.expected["state"] != "unknown"
    ]
    assert [name for name, seen, is_so in looks if seen != is_so] == []


def test_the_same_record_twice_is_the_same_evidence() -> None:
    for scene in ALL:
        once, again = ([[one.dedupe_key for one in ADAPTER.read(record)] for record in scene.records] for _ in "12")
        assert once == again


def test_most_rules_were_seen_to_hold_on_the_real_program() -> None:
    used = Counter(ADAPTER.look(scene.screen).rule for scene in ALL)
    unseen = {rule.id for rule in RULES} - used.keys()
    assert unseen <= {
        "login",
        "interruptible",
        "agent_listed",
        "shell_listed",
        "usage_limit_said",
        "context_full",
    }
