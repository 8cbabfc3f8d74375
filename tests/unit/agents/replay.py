"""Every recorded scene of a real program means today what it meant when it was recorded."""

from collections import Counter
from collections.abc import Collection

from termvisor.agents.base import Adapter
from termvisor.state.admission import refused
from termvisor.state.measure import DEFAULT
from tests.recordings.scene import Play, differences, runs, scenes

WAITING = ("waiting_approval", "waiting_input")


def means_what_it_meant(adapter: Adapter) -> dict[str, dict[str, tuple[object, object]]]:
    """Scenes that mean something else now; none were recorded: an error."""
    found = {}
    for run in runs(adapter.name):
        play = Play(adapter, run[0].runtime)
        for scene in run:
            play.hear(scene.records)
            found[f"{scene.run}/{scene.name}"] = differences(scene.expected, play.meaning(scene.screen))
            play.next_scene()
        assert play.knowledge.dropped.keys() <= {"late_event", "duplicate"}
    assert len(found) > 10
    return {name: different for name, different in found.items() if different}


def unheard(adapter: Adapter) -> list[str]:
    """Signals that would be refused, or are too long."""
    said = [signal for scene in scenes(adapter.name) for record in scene.records for signal in adapter.read(record)]
    assert len(said) > 20
    longest = max(len(str(value)) for signal in said for value in signal.payload.values())
    assert longest <= 2000
    return [str(signal) for signal in said if refused(signal, DEFAULT)]


def false_dialogs(adapter: Adapter) -> list[str]:
    """Scenes whose screen alone shows a dialog where there was none, or none where there was one."""
    return [
        scene.name
        for scene in scenes(adapter.name)
        if (adapter.look(scene.screen).state in WAITING) != (scene.expected.get("look") in WAITING)
    ]


def unseen_rules(adapter: Adapter, rules: Collection[str]) -> set[str]:
    """Rules that no recorded screen fits."""
    used = Counter(adapter.look(scene.screen).rule for scene in scenes(adapter.name))
    return set(rules) - used.keys()
