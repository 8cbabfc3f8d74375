"""Adapters, kept from doing harm."""

from termvisor.agents.adapters.adapter import ProcessInfo, ScreenReading, SourceRecord
from termvisor.agents.tracking import AdapterRegistry
from termvisor.model.ids import PaneId
from termvisor.model.terminal.screen import Screen
from termvisor.testing.fake_services import NOON
from tests.unit.agents.tracking.toy_agent import ADAPTER, ToyAdapter
from tests.unit.agents.tracking.tracker_scene import build_registry

RECORD = SourceRecord(source="osc", text="state=working", at=NOON, event_id="1@5")


class Hostile(ToyAdapter):
    def read_record(self, record):
        raise RecursionError("too deep")


def test_they_are_loaded_when_the_first_is_needed_and_only_once():
    loads = []
    one = AdapterRegistry(lambda: loads.append(1) or [ADAPTER])
    assert loads == []
    assert (list(one.adapters), list(one.adapters), loads) == (["toy"], ["toy"], [1])


def test_each_is_asked_by_its_name_and_an_unknown_one_says_nothing():
    one = build_registry()
    assert [signal.state for signal in one.read_record("toy", RECORD)] == ["running"]
    assert one.read_record("nobody", RECORD) == ()
    assert one.find_process("toy", [ProcessInfo(pid=1, argv=("toy-agent",))]).pid == 1
    assert (one.build_resume_command("toy", "abc"), one.build_resume_command("nobody", "abc")) == (
        ("toy-agent", "--resume", "abc"),
        (),
    )


def test_what_one_raises_counts_as_silence_and_is_told_once(caplog):
    one = AdapterRegistry(lambda: [Hostile()])
    assert (one.read_record("toy", RECORD), one.read_record("toy", RECORD)) == ((), ())
    assert one.failure_counts == {"toy": 2}
    assert caplog.text.count("the agent adapter toy failed: RecursionError: too deep") == 1


class Knowing(ToyAdapter):
    contract_version = (1, 1)

    def classify_screen(self, screen, version=""):
        return ScreenReading(state="idle", rule=f"toy.{version}")


def test_a_look_is_told_the_version_by_those_who_can_hear_it():
    shown = Screen(pane=PaneId(1), rows=("toy is idle",), width=80, height=1, at=NOON)
    old, new = build_registry(), AdapterRegistry(lambda: [Knowing()])
    assert old.classify_screen("toy", shown, "2.0") == old.classify_screen("toy", shown)
    assert old.failure_counts == {}
    assert (new.classify_screen("toy", shown, "2.0").rule_name, new.classify_screen("toy", shown).rule) == ("0", "toy.")


def test_who_speaks_where_and_which_variables_are_asked_for():
    one = build_registry()
    assert (one.list_agents_with_source("osc"), one.list_agents_with_source("app_server")) == (["toy"], [])
    assert one.env_names == ("TOY_HOME",)
    assert set(one.sources) == {"", "toy"}
