"""An Attempt is an action on its way through the gate, with all that was found out about it; and what ends it early."""

from typing import Protocol

from msgspec import Struct

from termvisor.actions.approvals import ApprovalQueue
from termvisor.actions.audit_entry import AuditContext
from termvisor.actions.executor import ActionExecutor
from termvisor.actions.policy_check import ActionPolicy, PolicyDecision
from termvisor.actions.preconditions import PaneSnapshot, PreconditionFailure, RequestedAction
from termvisor.actions.text_typer import InputProbe
from termvisor.agents.adapters.server_contract import SessionControl
from termvisor.backends.pane_control import PaneControl
from termvisor.clock import Clock
from termvisor.errors import Conflict, ErrorDetail, Refused, StaleSnapshot, VisorError
from termvisor.model.action.action import Actor, Notify, RunProgram, assess_risk
from termvisor.model.action.preconditions import Preconditions
from termvisor.model.action.verdict import Verdict
from termvisor.model.event import Scalar
from termvisor.model.ids import PaneId
from termvisor.model.terminal.pane import PaneView
from termvisor.store import Store


class PaneAccess(InputProbe, Protocol):
    """What the gate may know of panes."""

    async def get_pane(self, pane: PaneId) -> PaneView:
        """The pane as it is on record; raises ``NotFound``."""

    async def take_snapshot(self, pane: PaneId, preconditions: Preconditions) -> PaneSnapshot:
        """What is known of the pane now; raises ``NotFound``."""

    def get_control(self, pane: PaneId) -> PaneControl:
        """The way to change it."""

    def get_session_control(self, pane: PaneId) -> SessionControl | None:
        """The server of the agent there, in the conversation that the pane is proven to show."""

    async def find_last_command_line(self, pane: PaneId, since: int) -> str | None:
        """The command that the shell there, with proof, last started since then."""


class GateDependencies(Struct):
    """What the gate works with."""

    store: Store
    panes: PaneAccess
    policy: ActionPolicy
    approvals: ApprovalQueue
    executor: ActionExecutor
    clock: Clock
    hash_key: bytes
    """Keys the hashes by which a text is known again."""


class Attempt(Struct, frozen=True):
    """An action that may be done now, with all that was found out about it."""

    audit: AuditContext
    request: RequestedAction
    decision: PolicyDecision
    snapshot: PaneSnapshot | None

    @property
    def can_skip_approval(self) -> bool:
        """Nobody is asked about a notification, since the question would be told by one, nor about a program that only
        looks: what it says is wanted now or not at all. Then nobody is told, and nothing is looked up."""
        action = self.audit.action
        is_small = isinstance(action, Notify) or (isinstance(action, RunProgram) and assess_risk(action) == "look")
        return is_small and self.decision.verdict.answer == "ask"

    def describe_pane(self) -> dict[str, Scalar]:
        """What the record says of the pane as it was."""
        if self.snapshot is None:
            return {}
        sight, view = self.snapshot.pane_state, self.snapshot.view
        return {
            "pid": sight.pid,
            "command": sight.command,
            "alternate": sight.alternate,
            "activity": view.activity.kind,
            "is_proven": view.activity.is_proven,
            "observed_at": self.snapshot.observed_at,
            "force_stale": self.request.preconditions.force_stale,
        }


def build_requested_action(actor: Actor, preconditions: Preconditions, decision: PolicyDecision) -> RequestedAction:
    return RequestedAction(
        action=decision.action,
        actor=actor,
        preconditions=preconditions,
        allows_unproven=decision.allows_unproven,
        allows_typing_beside_people=decision.allows_typing_beside_people,
    )


def build_denied_error(verdict: Verdict, audit: AuditContext) -> Refused:
    details: dict[str, ErrorDetail] = {
        "outcome": "denied",
        "correlation": audit.correlation,
        "reasons": [f"{reason.source} {reason.id}: {reason.answer}" for reason in verdict.reasons],
        "retry_at": verdict.retry_at,
    }
    return Refused(f"the policy says no: {verdict.why}", details=details)


def build_refused_error(failure: PreconditionFailure, audit: AuditContext) -> VisorError:
    details: dict[str, ErrorDetail] = {"outcome": "refused", "why": failure.why, "correlation": audit.correlation}
    if failure.expected or failure.actual:
        details |= {"expected": failure.expected, "actual": failure.actual}
    told = f"{failure.text} (expected {failure.expected}, found {failure.actual})" if failure.expected else failure.text
    kind = Conflict if failure.why == "reserved" else StaleSnapshot
    return kind(f"nothing was done: {told}", details=details)
