"""Adapters, kept from doing harm."""

from termvisor.agents.adapters.adapter import Process, Record, Seen
from termvisor.agents.tracking import Circle
from termvisor.model.ids import PaneId
from termvisor.model.terminal.screen import Screen
from termvisor.testing.world import NOON
from tests.unit.agents.tracking.house import circle
from tests.unit.agents.tracking.toy import ADAPTER, Toy

RECORD = Record(source="osc", text="state=working", at=NOON, event_id="1@5")


class Hostile(Toy):
    def read(self, record):
        raise RecursionError("too deep")


def test_they_are_loaded_when_the_first_is_needed_and_only_once():
    loads = []
    one = Circle(lambda: loads.append(1) or [ADAPTER])
    assert loads == []
    assert (list(one.adapters), list(one.adapters), loads) == (["toy"], ["toy"], [1])


def test_each_is_asked_by_its_name_and_an_unknown_one_says_nothing():
    one = circle()
    assert [signal.state for signal in one.read("toy", RECORD)] == ["running"]
    assert one.read("nobody", RECORD) == ()
    assert one.recognise("toy", [Process(pid=1, argv=("toy-agent",))]).pid == 1
    assert (one.resume("toy", "abc"), one.resume("nobody", "abc")) == (("toy-agent", "--resume", "abc"), ())


def test_what_one_raises_counts_as_silence_and_is_told_once(caplog):
    one = Circle(lambda: [Hostile()])
    assert (one.read("toy", RECORD), one.read("toy", RECORD)) == ((), ())
    assert one.failures == {"toy": 2}
    assert caplog.text.count("the agent adapter toy failed: RecursionError: too deep") == 1


class Knowing(Toy):
    contract_version = (1, 1)

    def look(self, screen, version=""):
        return Seen(state="idle", rule=f"toy.{version}")


def test_a_look_is_told_the_version_by_those_who_can_hear_it():
    shown = Screen(pane=PaneId(1), rows=("toy is idle",), width=80, height=1, at=NOON)
    old, new = circle(), Circle(lambda: [Knowing()])
    assert old.look("toy", shown, "2.0") == old.look("toy", shown)
    assert old.failures == {}
    assert (new.look("toy", shown, "2.0").name, new.look("toy", shown).rule) == ("0", "toy.")


def test_who_speaks_where_and_which_variables_are_asked_for():
    one = circle()
    assert (one.speaking("osc"), one.speaking("app_server")) == (["toy"], [])
    assert one.env_names == ("TOY_HOME",)
    assert set(one.sources) == {"", "toy"}
