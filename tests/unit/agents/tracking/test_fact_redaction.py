"""What may be stored of a signal."""

from termvisor.agents.tracking.fact_redaction import MAX_TEXT_CHARS, redact_fact
from termvisor.testing.fake_services import NOON
from tests.unit.agents.tracking.tracker_scene import build_agent_started, build_signal

KEY = "sk-ant-api03-" + "aB3dE6gH9" * 10


def test_no_secret_is_stored_and_nothing_long():
    payload = {"message": f"use {KEY} now", "total": 5, "prompt": "x " * 5000}
    fact = redact_fact(build_signal(NOON, "running", payload=payload, title=f"with {KEY}"))
    assert KEY[:30] not in str(fact)
    assert (fact.payload["total"], len(fact.payload["prompt"])) == (5, MAX_TEXT_CHARS)


def test_there_are_not_endlessly_many_fields():
    fact = redact_fact(build_signal(NOON, "running", payload={f"key{number}": number for number in range(1000)}))
    assert len(fact.payload) == 32


def test_what_has_no_text_is_as_it_was():
    assert redact_fact(build_agent_started(NOON)) == build_agent_started(NOON)
    assert redact_fact(build_signal(NOON, "idle")) == build_signal(NOON, "idle")
