"""Redaction and limits of stored facts."""

from termvisor.agents.sources.redaction import MAX_TEXT_CHARS, redact_fact
from termvisor.testing.fake_clock import NOON
from tests.unit.agents.tracking.tracker_scene import build_agent_started, build_signal

KEY = "sk-ant-api03-" + "aB3dE6gH9" * 10


def test_secrets_are_redacted_and_texts_truncated():
    payload = {"message": f"use {KEY} now", "total": 5, "prompt": "x " * 5000}
    fact = redact_fact(build_signal(NOON, "running", payload=payload, title=f"with {KEY}"))
    assert KEY[:30] not in str(fact)
    assert (fact.payload["total"], len(fact.payload["prompt"])) == (5, MAX_TEXT_CHARS)


def test_the_number_of_payload_keys_is_bounded():
    fact = redact_fact(build_signal(NOON, "running", payload={f"key{number}": number for number in range(1000)}))
    assert len(fact.payload) == 32


def test_a_fact_without_text_is_unchanged():
    assert redact_fact(build_agent_started(NOON)) == build_agent_started(NOON)
    assert redact_fact(build_signal(NOON, "idle")) == build_signal(NOON, "idle")
