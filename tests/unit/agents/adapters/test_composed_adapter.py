"""Every built-in adapter has declared sources with readers, screen rules and a resume command."""

import pytest

from termvisor.agents.adapters import loader
from termvisor.agents.adapters.adapter import Adapter, SourceRecord
from termvisor.agents.adapters.composed_adapter import ComposedAdapter
from tests.unit.agents.adapters.adapter_inputs import NOW, SESSION, build_screen

# Described agents have tests of their own: the rules for all agents may be enough for them.
ALL = {
    one.name: one
    for one in loader.load_adapters()
    if isinstance(one, ComposedAdapter) and one.name in loader.BUILTIN_AGENTS
}
pytestmark = pytest.mark.parametrize("adapter", ALL.values(), ids=ALL)


def test_a_built_in_adapter_has_the_look_capability(adapter: ComposedAdapter) -> None:
    kept: Adapter = adapter
    assert "look" in kept.capabilities


def test_readers_exist_only_for_declared_sources(adapter: ComposedAdapter) -> None:
    assert set(adapter.readers) <= {source.name for source in adapter.sources}
    assert adapter.read_record(SourceRecord(source="bell", text="", at=NOW)) == ()


def test_an_adapter_has_only_its_own_rules_and_another_screen_is_unknown(adapter: ComposedAdapter) -> None:
    assert {rule.agent for rule in adapter.screen_classifier.rules} == {adapter.name}
    assert adapter.classify_screen(build_screen("$ ls"), "9.9").state == "unknown"


def test_only_a_valid_session_id_is_resumed(adapter: ComposedAdapter) -> None:
    assert adapter.build_resume_command("--yolo") == ()
    assert (SESSION in " ".join(adapter.build_resume_command(SESSION))) is adapter.session_resume.is_session(SESSION)
