"""Identify the agent of a pane from weighted traces (process, command, screen, title) without a native signal.

A title alone proves nothing, even under a wrapper such as `node`: it remains after its program exits. At a shell
prompt the screen proves nothing either, because any program can print a copy of an agent's screen.
"""

from termvisor.model.agent.agent_process import AgentSignature, SignatureInputs, SignatureReason

SHELL_NAMES = frozenset(("sh", "bash", "zsh", "fish", "dash", "nu", "pwsh", "tcsh", "csh", "ksh", "ash"))
# The confidence of each trace. A title (0.66) adds nothing to another trace and is not enough on its own.
TRACE_WEIGHTS: dict[SignatureReason, float] = {"provider_hint": 1.00, "cmd_match": 0.86, "poller_match": 0.78}


def is_shell(command: str) -> bool:
    """Return True if the base name of the command is a shell's. The name of a login shell starts with a dash."""
    return command.rsplit("/", 1)[-1].lower().removesuffix(".exe").removeprefix("-") in SHELL_NAMES


def identify_agent(inputs: SignatureInputs, command: str) -> AgentSignature:
    """Return the agent with the strongest trace; at a shell prompt (``command``) the screen does not count."""
    agents: dict[SignatureReason, str] = {
        "provider_hint": inputs.provider_hint,
        "cmd_match": inputs.cmd_match,
        "poller_match": "" if is_shell(command) else inputs.poller_match,
    }
    reason = next((trace for trace in TRACE_WEIGHTS if agents[trace]), None)
    if reason is None:
        has_trace = bool(inputs.poller_match or inputs.title_match)
        no_reason: SignatureReason = "signature_guard_rejected" if has_trace else "signature_inconclusive"
        return AgentSignature(signature_reason=no_reason, signature_inputs=inputs)
    return AgentSignature(
        agent=agents[reason],
        signature_class="heuristic",
        signature_reason=reason,
        signature_confidence=TRACE_WEIGHTS[reason],
        signature_inputs=inputs,
    )


def build_handshake_signature(agent: str, inputs: SignatureInputs) -> AgentSignature:
    """Return the signature of an agent that identified itself by a signal."""
    return AgentSignature(
        agent=agent,
        signature_class="deterministic",
        signature_reason="handshake",
        signature_confidence=1.0,
        signature_inputs=inputs,
    )
