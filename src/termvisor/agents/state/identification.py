"""Recognising an agent that has not spoken itself: traces are weighed, and some prove nothing.

A title proves nothing alone, also not under a wrapper such as `node`: it stays behind when its program is gone. At a
shell's prompt the screen proves nothing either, because anybody can print a picture of an agent there.
"""

from termvisor.model.agent.identification import AgentSignature, SignatureInputs, SignatureReason

SHELL_NAMES = frozenset(("sh", "bash", "zsh", "fish", "dash", "nu", "pwsh", "tcsh", "csh", "ksh", "ash"))
TRACE_WEIGHTS: dict[SignatureReason, float] = {"provider_hint": 1.00, "cmd_match": 0.86, "poller_match": 0.78}
"""What each trace weighs. A title, with 0.66, adds nothing to another trace and is not enough without one."""


def is_shell(command: str) -> bool:
    """Compared by its bare name, however it was called; a login shell has a dash before it."""
    return command.rsplit("/", 1)[-1].lower().removesuffix(".exe").removeprefix("-") in SHELL_NAMES


def identify_agent(inputs: SignatureInputs, command: str) -> AgentSignature:
    """The agent whose trace weighs most; the pane's current command says what the traces are worth."""
    named: dict[SignatureReason, str] = {
        "provider_hint": inputs.provider_hint,
        "cmd_match": inputs.cmd_match,
        "poller_match": "" if is_shell(command) else inputs.poller_match,
    }
    reason = next((trace for trace in TRACE_WEIGHTS if named[trace]), None)
    if reason is None:
        has_trace = bool(inputs.poller_match or inputs.title_match)
        why: SignatureReason = "signature_guard_rejected" if has_trace else "signature_inconclusive"
        return AgentSignature(signature_reason=why, signature_inputs=inputs)
    return AgentSignature(
        agent=named[reason],
        signature_class="heuristic",
        signature_reason=reason,
        signature_confidence=TRACE_WEIGHTS[reason],
        signature_inputs=inputs,
    )


def build_handshake_signature(agent: str, inputs: SignatureInputs) -> AgentSignature:
    """The agent itself has spoken."""
    return AgentSignature(
        agent=agent,
        signature_class="deterministic",
        signature_reason="handshake",
        signature_confidence=1.0,
        signature_inputs=inputs,
    )
