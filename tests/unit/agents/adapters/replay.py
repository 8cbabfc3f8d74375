"""Every recorded scene of a real program means today what it meant when it was recorded."""

from termvisor.agents.adapters.adapter import Adapter
from termvisor.agents.adapters.composed_adapter import Composed
from termvisor.agents.state.signal_filter import refused
from tests.declared import DEFAULT
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
        if (adapter.look(scene.screen).state in WAITING) != (_expected(scene.expected) in WAITING)
    ]


def _expected(expected: dict[str, str | int | bool]) -> object:
    """What the screen showed then; where nobody wrote that down, what all together came to."""
    return expected.get("look", expected.get("state"))


def unseen_rules(adapter: Composed) -> set[str]:
    """Names of rules that no recorded screen fits."""
    used = {adapter.look(scene.screen).rule for scene in scenes(adapter.name)}
    return {rule.id.rpartition(".")[2] for rule in adapter.sight.rules if rule.id not in used}
