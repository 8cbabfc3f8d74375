"""An adapter is its parts: sources that it declares and reads, rules for its screens, a way to take a session up."""

import pytest

from termvisor import agents
from termvisor.agents.adapters.adapter import Adapter, Record
from termvisor.agents.adapters.composed_adapter import Composed
from tests.unit.agents.adapters.saying import NOW, SESSION, screen

ALL = {one.name: one for one in agents.load() if isinstance(one, Composed)}
pytestmark = pytest.mark.parametrize("adapter", ALL.values(), ids=ALL)


def test_it_is_an_adapter(adapter: Composed) -> None:
    kept: Adapter = adapter
    assert "look" in kept.capabilities


def test_it_reads_only_what_it_declares(adapter: Composed) -> None:
    assert set(adapter.readers) <= {source.name for source in adapter.sources}
    assert adapter.read(Record(source="bell", text="", at=NOW)) == ()


def test_it_has_rules_of_its_own_and_the_last_word_on_a_strange_screen_is_unknown(adapter: Composed) -> None:
    assert {rule.agent for rule in adapter.sight.rules} == {adapter.name}
    assert adapter.look(screen("$ ls"), "9.9").state == "unknown"


def test_a_session_is_named_or_none_is_taken_up(adapter: Composed) -> None:
    assert adapter.resume_command("--yolo") == ()
    assert (SESSION in " ".join(adapter.resume_command(SESSION))) is adapter.resume.is_session(SESSION)
