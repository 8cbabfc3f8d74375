"""An Attempt is an action on its way through the gate, with all that was found out about it; and what ends it early."""

from typing import Protocol

from msgspec import Struct

from termvisor.actions.approvals import Inbox
from termvisor.actions.audit_entry import Case
from termvisor.actions.executor import Perform
from termvisor.actions.policy_check import Judge, Judged
from termvisor.actions.preconditions import Belief, Refusal, Wish
from termvisor.actions.typing import Witness
from termvisor.agents.adapters.server_contract import Line
from termvisor.backends.pane_control import PaneControl
from termvisor.clock import Clock
from termvisor.errors import Conflict, Detail, Refused, StaleSnapshot, VisorError
from termvisor.model.action.action import Actor, Notify, RunProgram, risk_of
from termvisor.model.action.preconditions import Terms
from termvisor.model.action.verdict import Verdict
from termvisor.model.event import Scalar
from termvisor.model.ids import PaneId
from termvisor.model.terminal.pane import PaneView
from termvisor.store import Store


class Panes(Witness, Protocol):
    """What the gate may know of panes."""

    async def view(self, pane: PaneId) -> PaneView:
        """The pane as it is on record; raises ``NotFound``."""

    async def believe(self, pane: PaneId, terms: Terms) -> Belief:
        """What is known of the pane now; raises ``NotFound``."""

    def control(self, pane: PaneId) -> PaneControl:
        """The way to change it."""

    def line(self, pane: PaneId) -> Line | None:
        """The server of the agent there, in the conversation that the pane is proven to show."""

    async def last_command_line(self, pane: PaneId, since: int) -> str | None:
        """The command that the shell there, with proof, last started since then."""


class Means(Struct):
    """What the gate works with."""

    store: Store
    panes: Panes
    judge: Judge
    inbox: Inbox
    perform: Perform
    clock: Clock
    secret: bytes
    """Keys the hashes by which a text is known again."""


class Attempt(Struct, frozen=True):
    """An action that may be done now, with all that was found out about it."""

    case: Case
    wish: Wish
    judged: Judged
    belief: Belief | None

    @property
    def is_not_worth_asking(self) -> bool:
        """Nobody is asked about a notification, since the question would be told by one, nor about a program that only
        looks: what it says is wanted now or not at all. Then nobody is told, and nothing is looked up."""
        action = self.case.action
        is_small = isinstance(action, Notify) or (isinstance(action, RunProgram) and risk_of(action) == "look")
        return is_small and self.judged.verdict.answer == "ask"

    def observed(self) -> dict[str, Scalar]:
        """What the record says of the pane as it was."""
        if self.belief is None:
            return {}
        sight, view = self.belief.sight, self.belief.view
        return {
            "pid": sight.pid,
            "command": sight.command,
            "alternate": sight.alternate,
            "activity": view.activity.kind,
            "is_proven": view.activity.is_proven,
            "observed_at": self.belief.observed_at,
            "force_stale": self.wish.terms.force_stale,
        }


def wish_of(actor: Actor, terms: Terms, judged: Judged) -> Wish:
    return Wish(
        action=judged.action,
        actor=actor,
        terms=terms,
        allows_unproven=judged.allows_unproven,
        allows_typing_beside_people=judged.allows_typing_beside_people,
    )


def denied(verdict: Verdict, case: Case) -> Refused:
    details: dict[str, Detail] = {
        "outcome": "denied",
        "correlation": case.correlation,
        "reasons": [f"{reason.source} {reason.id}: {reason.answer}" for reason in verdict.reasons],
        "retry_at": verdict.retry_at,
    }
    return Refused(f"the policy says no: {verdict.why}", details=details)


def refused(found: Refusal, case: Case) -> VisorError:
    details: dict[str, Detail] = {"outcome": "refused", "why": found.why, "correlation": case.correlation}
    if found.expected or found.actual:
        details |= {"expected": found.expected, "actual": found.actual}
    told = f"{found.text} (expected {found.expected}, found {found.actual})" if found.expected else found.text
    kind = Conflict if found.why == "reserved" else StaleSnapshot
    return kind(f"nothing was done: {told}", details=details)
