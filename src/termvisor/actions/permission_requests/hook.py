"""Decide a permission request through the gate and format the answer for the agent's hook.

Invariant: only an explicit allow or deny is formatted. Any other result is raised, so the hook prints nothing and the
agent shows its own dialog.
"""

from collections.abc import Sequence
from typing import Protocol

from msgspec.structs import replace

from termvisor.actions.pane_agent import get_agent_interaction
from termvisor.agents.adapters.dialog_options import Decision
from termvisor.errors import Refused
from termvisor.model.action.action import Action, Actor, AnswerAgent
from termvisor.model.action.outcome import Outcome
from termvisor.model.action.preconditions import Preconditions

_NON_DECISION_PREFIXES = ("rate ", "default no_policy")
"""Denials that do not judge the request itself: a rate limit, or a policy file that cannot be read."""


class GateRunner(Protocol):
    async def run(self, action: Action, actor: Actor, preconditions: Preconditions) -> Outcome: ...


async def decide_request(gate: GateRunner, action: AnswerAgent, actor: Actor, preconditions: Preconditions) -> Outcome:
    """Return an outcome whose ``why`` is `allow` or `deny` and whose ``text`` is what the agent's hook prints.

    The gate sees the agent as the caller, whichever process forwarded the request.
    Raises ``Refused`` if there was no decision, and whatever else the gate raises.
    """
    agent = replace(actor, kind="agent", name=action.agent, pane=action.pane)
    try:
        outcome = await gate.run(action, agent, preconditions)
    except Refused as error:
        if not _is_clear_denial(error):
            raise
        return Outcome(
            status="done",
            why="deny",
            text=_format_hook_answer(action, "deny", f"Termvisor: {error.message}"),
            correlation=str(error.details.get("correlation", "")),
            pane=action.pane,
        )
    return replace(outcome, why="allow", text=_format_hook_answer(action, "allow"))


def _format_hook_answer(action: AnswerAgent, decision: Decision, message: str = "") -> str:
    """Return the hook output for this agent, or an empty string if its hooks take no answer."""
    interaction = get_agent_interaction(action.agent)
    return (interaction.format_hook_answer(decision, message) if interaction is not None else None) or ""


def _is_clear_denial(error: Refused) -> bool:
    """Return True if a person or a policy rule denied this request."""
    if error.details.get("why") == "denied":
        return True
    details = error.details.get("reasons")
    reasons = details if isinstance(details, Sequence) and not isinstance(details, str) else ()
    return any(
        str(reason).endswith(": deny") and not str(reason).startswith(_NON_DECISION_PREFIXES) for reason in reasons
    )
