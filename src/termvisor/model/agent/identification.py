"""The signature of an agent: by which traces a pane was identified."""

from typing import Literal

from msgspec import Struct

SignatureClass = Literal["deterministic", "heuristic", "none"]
SignatureReason = Literal[
    "handshake",
    "provider_hint",
    "cmd_match",
    "poller_match",
    "signature_inconclusive",
    "signature_guard_rejected",
]


class SignatureInputs(Struct, frozen=True, kw_only=True):
    """The agent that each trace suggests; empty if none."""

    provider_hint: str = ""
    """The process: its argv, its program, its children."""
    cmd_match: str = ""
    """The pane's current command."""
    poller_match: str = ""
    """The pane's screen."""
    title_match: str = ""


class AgentSignature(Struct, frozen=True, kw_only=True):
    agent: str = ""
    signature_class: SignatureClass = "none"
    signature_reason: SignatureReason = "signature_inconclusive"
    signature_confidence: float = 0.0
    signature_inputs: SignatureInputs = SignatureInputs()
