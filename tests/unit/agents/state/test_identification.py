"""Identifying an agent by its traces."""

import pytest

from termvisor.agents.state.identification import build_handshake_signature, identify_agent, is_shell
from termvisor.model.agent.agent_process import SignatureInputs

REJECTED, NOTHING = "signature_guard_rejected", "signature_inconclusive"


@pytest.mark.parametrize(
    ("inputs", "command", "expected"),
    [
        ({"provider_hint": "gemini"}, "node", ("gemini", "provider_hint", 1.0)),
        ({"cmd_match": "codex"}, "codex", ("codex", "cmd_match", 0.86)),
        ({"poller_match": "codex"}, "node", ("codex", "poller_match", 0.78)),
        ({"poller_match": "codex", "title_match": "codex"}, "node", ("codex", "poller_match", 0.78)),
        ({"provider_hint": "gemini", "title_match": "codex"}, "node", ("gemini", "provider_hint", 1.0)),
        ({"provider_hint": "codex", "title_match": "codex"}, "bash", ("codex", "provider_hint", 1.0)),
        ({"title_match": "codex"}, "codex-wrapper", ("", REJECTED, 0.0)),
        ({"title_match": "gemini"}, "node", ("", REJECTED, 0.0)),
        ({"title_match": "codex"}, "-zsh", ("", REJECTED, 0.0)),
        ({"poller_match": "codex"}, "bash", ("", REJECTED, 0.0)),
        ({}, "vim", ("", NOTHING, 0.0)),
    ],
)
def test_an_agent_is_identified_by_its_traces(
    inputs: dict[str, str], command: str, expected: tuple[str, str, float]
) -> None:
    found = identify_agent(SignatureInputs(**inputs), command)
    assert (found.agent, found.signature_reason, found.signature_confidence) == expected
    assert found.signature_class == ("heuristic" if found.agent else "none")


@pytest.mark.parametrize(
    ("command", "expected"),
    [("bash", True), ("-zsh", True), ("/usr/bin/fish", True), ("BASH", True), ("pwsh.exe", True), ("bashful", False)],
)
def test_shells_are_recognised_by_base_name(command: str, expected: bool) -> None:
    assert is_shell(command) is expected


def test_a_handshake_needs_no_traces() -> None:
    found = build_handshake_signature("codex", SignatureInputs())
    assert (found.signature_class, found.signature_confidence) == ("deterministic", 1.0)
