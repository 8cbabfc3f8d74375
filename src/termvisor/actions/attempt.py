"""Hold one requested action while the gate processes it, and build its audit entries."""

from msgspec import Struct
from msgspec.structs import replace

from termvisor.actions.audit_entry import format_pane_location, hash_action, redact_action
from termvisor.actions.pane_snapshot import PaneSnapshot
from termvisor.actions.policy_check import PolicyDecision
from termvisor.model.action.action import (
    Action,
    Actor,
    Notify,
    RunProgram,
    assess_risk,
    find_action_pane,
    get_action_kind,
)
from termvisor.model.action.audit import AuditEntry, AuditStage
from termvisor.model.action.preconditions import Preconditions
from termvisor.model.event import Scalar
from termvisor.model.terminal.pane import PaneView


class Attempt(Struct, frozen=True, kw_only=True):
    """A requested action, the policy's decision about it, and the pane it acts on."""

    action: Action
    actor: Actor
    preconditions: Preconditions
    decision: PolicyDecision
    correlation: str = ""
    view: PaneView | None = None
    """The pane when the action was requested; unlike ``snapshot`` the same in all audit entries of the action."""
    snapshot: PaneSnapshot | None = None

    @property
    def action_hash(self) -> str:
        return hash_action(self.action, self.view)

    @property
    def pane_location(self) -> str:
        return "" if self.view is None else format_pane_location(self.view)

    @property
    def is_suppressed(self) -> bool:
        """Return True if the action requires approval but is dropped instead of asked about.

        An approval request is announced by a notification, so notifications cannot require one; the output of a
        read-only program is useful now or not at all.
        """
        action = self.action
        is_small = isinstance(action, Notify) or (isinstance(action, RunProgram) and assess_risk(action) == "look")
        return is_small and self.decision.verdict.answer == "ask"

    def build_entry(self, stage: AuditStage, at: int, **fields: object) -> AuditEntry:
        entry = AuditEntry(
            at=at,
            correlation=self.correlation,
            stage=stage,
            kind=get_action_kind(self.action),
            actor=self.actor,
            pane=find_action_pane(self.action),
            place=self.pane_location,
            action=redact_action(self.action),
            action_hash=self.action_hash,
            undoes=self.preconditions.undoes.correlation if self.preconditions.undoes else "",
        )
        return replace(entry, **fields)

    def describe_pane(self) -> dict[str, Scalar]:
        """Return what the audit log stores about the pane's state."""
        if self.snapshot is None:
            return {}
        pane_state, activity = self.snapshot.pane_state, self.snapshot.view.activity
        return {
            "pid": pane_state.pid,
            "command": pane_state.command,
            "alternate": pane_state.alternate,
            "activity": activity.kind,
            "is_proven": activity.is_proven,
            "observed_at": self.snapshot.observed_at,
            "force_stale": self.preconditions.force_stale,
        }
