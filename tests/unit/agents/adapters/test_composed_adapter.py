"""Every built-in adapter has declared sources with readers, screen rules and a resume command."""

import pytest

from termvisor.agents.adapters import loader
from termvisor.agents.adapters.adapter import Adapter, SourceRecord
from termvisor.agents.adapters.composed_adapter import ComposedAdapter
from tests.unit.agents.adapters.adapter_inputs import NOW, SESSION, build_screen

ALL = {one.name: one for one in loader.load_adapters() if isinstance(one, ComposedAdapter)}
pytestmark = pytest.mark.parametrize("adapter", ALL.values(), ids=ALL)


def test_it_is_an_adapter(adapter: ComposedAdapter) -> None:
    kept: Adapter = adapter
    assert "look" in kept.capabilities


def test_it_reads_only_what_it_declares(adapter: ComposedAdapter) -> None:
    assert set(adapter.readers) <= {source.name for source in adapter.sources}
    assert adapter.read_record(SourceRecord(source="bell", text="", at=NOW)) == ()


def test_it_has_rules_of_its_own_and_the_last_word_on_a_strange_screen_is_unknown(adapter: ComposedAdapter) -> None:
    assert {rule.agent for rule in adapter.screen_classifier.rules} == {adapter.name}
    assert adapter.classify_screen(build_screen("$ ls"), "9.9").state == "unknown"


def test_only_a_named_session_is_resumed(adapter: ComposedAdapter) -> None:
    assert adapter.build_resume_command("--yolo") == ()
    assert (SESSION in " ".join(adapter.build_resume_command(SESSION))) is adapter.session_resume.is_session(SESSION)
