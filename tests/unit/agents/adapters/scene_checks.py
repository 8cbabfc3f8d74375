"""Checks that every recorded scene still gives the recorded state."""

from termvisor.agents.adapters.adapter import Adapter
from termvisor.agents.adapters.composed_adapter import ComposedAdapter
from termvisor.agents.state.signal_admission import find_rejection_reason
from tests.builtin_thresholds import DEFAULT_THRESHOLDS
from tests.recordings.scene import SceneReplay, find_differences, load_runs, load_scenes

WAITING_STATES = ("waiting_approval", "waiting_input")


def find_changed_scenes(adapter: Adapter) -> dict[str, dict[str, tuple[object, object]]]:
    """Return the scenes whose state differs from the recorded one."""
    found = {}
    for run in load_runs(adapter.name):
        play = SceneReplay(adapter, run[0].runtime)
        for scene in run:
            play.read_records(scene.records)
            found[f"{scene.run}/{scene.name}"] = find_differences(scene.expected, play.describe_scene(scene.screen))
            play.start_next_scene()
        assert play.knowledge.dropped.keys() <= {"late_event", "duplicate"}
    assert len(found) > 10
    return {name: different for name, different in found.items() if different}


def find_refused_signals(adapter: Adapter) -> list[str]:
    """Return the signals that would be rejected; check that none is too long."""
    signals = [
        signal
        for scene in load_scenes(adapter.name)
        for record in scene.records
        for signal in adapter.read_record(record)
    ]
    assert len(signals) > 20
    longest = max(len(str(value)) for signal in signals for value in signal.payload.values())
    assert longest <= 2000
    return [str(signal) for signal in signals if find_rejection_reason(signal, DEFAULT_THRESHOLDS)]


def find_false_dialogs(adapter: Adapter) -> list[str]:
    """Return the scenes whose screen alone wrongly shows or hides a dialog."""
    return [
        scene.name
        for scene in load_scenes(adapter.name)
        if (adapter.classify_screen(scene.screen).state in WAITING_STATES)
        != (_get_expected_screen_state(scene.expected) in WAITING_STATES)
    ]


def _get_expected_screen_state(expected: dict[str, str | int | bool]) -> object:
    """Return the recorded screen state, or the recorded state if there is none."""
    return expected.get("look", expected.get("state"))


def find_unseen_rules(adapter: ComposedAdapter) -> set[str]:
    """Return the names of rules that match no recorded screen."""
    used = {adapter.classify_screen(scene.screen).rule for scene in load_scenes(adapter.name)}
    return {rule.id.rpartition(".")[2] for rule in adapter.screen_classifier.rules if rule.id not in used}
