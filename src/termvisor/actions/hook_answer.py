"""An agent asks whether it may use a tool: what the gate says to that, in the words of the agent's own hook.

Invariant: only a clear yes or no becomes words. Whatever else happens is raised, and then the agent hears nothing: its
own dialog stands, and who sits there decides.
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
"""Denials that are about us: too much was asked, or the policy cannot be read."""


class GateRunner(Protocol):
    async def run(self, action: Action, actor: Actor, preconditions: Preconditions) -> Outcome: ...


async def answer_hook_request(
    gate: GateRunner, action: AnswerAgent, actor: Actor, preconditions: Preconditions
) -> Outcome:
    """``why`` is `allow` or `deny`, ``text`` what the hook prints. It is the agent's wish, whoever carries it."""
    asker = replace(actor, kind="agent", name=action.agent, pane=action.pane)
    try:
        outcome = await gate.run(action, asker, preconditions)
    except Refused as error:
        if not _is_clear_denial(error):
            raise
        words = _format_hook_answer(action, "deny", f"Termvisor: {error.message}")
        said = str(error.details.get("correlation", ""))
        return Outcome(status="done", why="deny", text=words, correlation=said, pane=action.pane)
    return replace(outcome, why="allow", text=_format_hook_answer(action, "allow"))


def _format_hook_answer(action: AnswerAgent, decision: Decision, message: str = "") -> str:
    """As the agent's own hook says it; nothing for one that is not answered so."""
    voice = get_agent_interaction(action.agent)
    return (voice.format_hook_answer(decision, message) if voice is not None else None) or ""


def _is_clear_denial(error: Refused) -> bool:
    """A person said it, or the policy did of this very request."""
    reasons = error.details.get("reasons")
    if error.details.get("why") == "denied":
        return True
    told = reasons if isinstance(reasons, Sequence) and not isinstance(reasons, str) else ()
    return any(str(one).endswith(": deny") and not str(one).startswith(_NON_DECISION_PREFIXES) for one in told)
