"""One requested action while the gate processes it: its hash, its redacted form and its audit entries."""

from _blake2 import blake2b  # importing hashlib would load OpenSSL, which costs 4 MB of memory

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from termvisor.actions.input_line import strip_decoration
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
from termvisor.model.action.approval import MAX_SHOWN_CHARS
from termvisor.model.action.audit import AuditEntry, AuditStage
from termvisor.model.action.preconditions import Preconditions
from termvisor.model.event import Scalar
from termvisor.model.terminal.pane import PaneView
from termvisor.redaction import redact, redact_values


class Attempt(Struct, frozen=True, kw_only=True):
    """A requested action, the policy's decision about it, and the pane it acts on."""

    action: Action
    actor: Actor
    preconditions: Preconditions
    decision: PolicyDecision
    correlation: str = ""
    view: PaneView | None = None
    """The pane when the action was requested. Unlike ``snapshot``, it is the same in all audit entries."""
    snapshot: PaneSnapshot | None = None
    approval: int | None = None
    """The number of the approval request that allowed it."""

    @property
    def action_hash(self) -> str:
        return hash_action(self.action, self.view)

    @property
    def pane_location(self) -> str:
        return "" if self.view is None else format_pane_location(self.view)

    @property
    def is_suppressed(self) -> bool:
        """Return True if the action requires approval but is dropped instead of requesting one.

        Notifications announce approval requests, so they cannot require one themselves. The output of a
        read-only program is useful immediately or not at all.
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
        """Return the pane attributes to store in the audit log."""
        if self.snapshot is None:
            return {}
        pane_state, activity = self.snapshot.pane_state, self.snapshot.view.activity
        facts: dict[str, Scalar] = {
            "pid": pane_state.pid,
            "command": pane_state.command,
            "alternate": pane_state.alternate,
            "activity": activity.kind,
            "is_proven": activity.is_proven,
            "observed_at": self.snapshot.observed_at,
            "force_stale": self.preconditions.force_stale,
        }
        if self.preconditions.overrides_reservation:
            facts["overrides_reservation"] = True
        return facts


# Deterministic, because the hash of an action must not depend on dict order.
_ENCODE = msgspec.json.Encoder(order="deterministic").encode


def hash_action(action: Action, view: PaneView | None) -> str:
    """Return a digest of this exact action on this exact pane instance. Approvals are bound to it."""
    instance = b"" if view is None else _ENCODE(view.instance)
    return blake2b(_ENCODE(action) + b"\n" + instance, digest_size=16).hexdigest()


def hash_text(text: str, secret: bytes) -> str:
    """Return a keyed digest for recognizing the text on a screen, even if wrapped, indented or framed there."""
    # Keyed, so that short texts cannot be guessed from the stored digests.
    return blake2b(strip_decoration(text).encode("utf-8", "replace"), key=secret[:64], digest_size=16).hexdigest()


def format_pane_location(view: PaneView) -> str:
    """Return a readable description of the pane's location and process, with secrets redacted."""
    facts, server = view.facts, view.instance.server
    where = f"{facts.session_name}:{facts.window_index}.{facts.pane_index}"
    return redact(f"pane {view.id} ({server.target}/{where} {view.instance.mux_id}, pid {facts.pid}, {facts.command})")


def redact_action(action: Action) -> dict[str, object]:
    """Return the action's fields for the audit log and the inbox: secrets redacted, long texts truncated."""
    fields: dict[str, object] = redact_values(msgspec.to_builtins(action), _redact_text)
    return fields


def _redact_text(value: str) -> str:
    text = redact(value)
    return text if len(text) <= MAX_SHOWN_CHARS else f"{text[:MAX_SHOWN_CHARS]}… ({len(value)} characters)"
