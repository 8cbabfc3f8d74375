"""Adapters are loaded lazily and their errors are isolated."""

import pytest

from termvisor.agents.adapters.adapter import ProcessInfo, ScreenReading, SourceRecord
from termvisor.agents.tracking import adapter_registry
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


class OptionalAdapter(ToyAdapter):
    def read_transcript(self, record):
        return [record.text]

    def is_printing_json(self, process):
        return "--json" in process.argv


PROCESS = ProcessInfo(pid=1, argv=("toy-agent", "--json", "--resume", "abc"), env={"TOY_HOME": "/home/ada"})
SCREEN = Screen(pane=PaneId(1), rows=("toy idle",), width=80, height=1, at=NOON)
CALLS = [
    (lambda registry: registry.find_process("toy", [PROCESS]), PROCESS, None),
    (lambda registry: registry.list_watched_paths("toy", PROCESS)[0].folder, "/home/ada", IndexError),
    (lambda registry: registry.read_transcript("toy", RECORD), ("state=working",), ()),
    (lambda registry: registry.find_resumed_session("toy", PROCESS), "abc", ""),
    (lambda registry: registry.is_printing_json("toy", PROCESS), True, False),
    (lambda registry: registry.classify_screen("toy", SCREEN).state, "idle", AttributeError),
    (lambda registry: registry.is_title_match("toy", "Toy 1"), True, False),
    (lambda registry: registry.build_resume_command("toy", "abc"), ("toy-agent", "--resume", "abc"), ()),
]


@pytest.mark.parametrize(("call", "found", "_"), CALLS)
def test_every_call_reaches_the_adapter(call, found, _):
    assert call(AdapterRegistry(lambda: [OptionalAdapter()])) == found


@pytest.mark.parametrize("call", [call for call, _, fallback in CALLS if not isinstance(fallback, type)])
def test_every_call_has_an_empty_result_without_the_adapter(call):
    (empty,) = (fallback for known, _, fallback in CALLS if known is call)
    assert call(AdapterRegistry(lambda: [])) == empty


def test_calls_that_an_adapter_does_not_have_are_empty():
    registry = build_registry()
    assert (registry.read_transcript("toy", RECORD), registry.is_printing_json("toy", PROCESS)) == ((), False)
    assert registry.failure_counts == {}


class ProgramAdapter(ToyAdapter):
    def find_process(self, processes):
        self.seen = [*getattr(self, "seen", []), *processes]
        return next((one for one in processes if one.program == "toy"), None)


def test_a_command_is_matched_once_as_a_process_of_that_name():
    adapter = ProgramAdapter()
    registry = AdapterRegistry(lambda: [adapter])
    assert [registry.match_command(name) for name in ("toy", "bash", "toy", "bash")] == ["toy", "", "toy", ""]
    assert adapter.seen == [ProcessInfo(pid=1, program=name, argv=(name,)) for name in ("toy", "bash")]


def test_a_full_cache_starts_again(monkeypatch):
    monkeypatch.setattr(adapter_registry, "_MAX_CACHED_NAMES", 2)
    cache = {}
    for name in "abc":
        adapter_registry.add_to_cache(cache, name, "toy")
        assert len(cache) <= 2
    assert cache == {"c": "toy"}
