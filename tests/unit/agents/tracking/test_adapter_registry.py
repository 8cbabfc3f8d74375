"""Adapters are loaded lazily and their errors are isolated."""

from termvisor.agents.adapters.adapter import ProcessInfo, ScreenReading, SourceRecord
from termvisor.agents.tracking.adapter_registry import AdapterRegistry
from termvisor.model.ids import PaneId
from termvisor.model.terminal.screen import Screen
from termvisor.testing.fake_clock import NOON
from tests.unit.agents.tracking.toy_agent import ADAPTER, ToyAdapter
from tests.unit.agents.tracking.tracker_scene import build_registry

RECORD = SourceRecord(source="osc", text="state=working", at=NOON, event_id="1@5")


class FailingAdapter(ToyAdapter):
    def read_record(self, record):
        raise RecursionError("too deep")


def test_adapters_are_loaded_once_on_first_use():
    loads = []
    registry = AdapterRegistry(lambda: loads.append(1) or [ADAPTER])
    assert loads == []
    assert (list(registry.adapters), list(registry.adapters), loads) == (["toy"], ["toy"], [1])


def test_adapters_are_called_by_name_and_unknown_ones_return_nothing():
    registry = build_registry()
    assert [signal.state for signal in registry.read_record("toy", RECORD)] == ["running"]
    assert registry.read_record("nobody", RECORD) == ()
    assert registry.find_process("toy", [ProcessInfo(pid=1, argv=("toy-agent",))]).pid == 1
    assert (registry.build_resume_command("toy", "abc"), registry.build_resume_command("nobody", "abc")) == (
        ("toy-agent", "--resume", "abc"),
        (),
    )


def test_an_exception_is_an_empty_result_and_logged_once(caplog):
    registry = AdapterRegistry(lambda: [FailingAdapter()])
    assert (registry.read_record("toy", RECORD), registry.read_record("toy", RECORD)) == ((), ())
    assert registry.failure_counts == {"toy": 2}
    assert caplog.text.count("agent adapter toy failed: RecursionError: too deep") == 1


class VersionedAdapter(ToyAdapter):
    def classify_screen(self, screen, version=""):
        return ScreenReading(state="idle", rule=f"toy.{version}")


def test_an_adapter_gets_the_version_of_the_program_with_each_screen():
    shown = Screen(pane=PaneId(1), rows=("toy is idle",), width=80, height=1, at=NOON)
    new = AdapterRegistry(lambda: [VersionedAdapter()])
    assert (new.classify_screen("toy", shown, "2.0").rule_name, new.classify_screen("toy", shown).rule) == ("0", "toy.")


def test_sources_and_env_names_are_collected():
    registry = build_registry()
    assert (registry.list_agents_with_source("osc"), registry.list_agents_with_source("app_server")) == (["toy"], [])
    assert registry.env_names == ("TOY_HOME",)
    assert set(registry.sources) == {"", "toy"}
