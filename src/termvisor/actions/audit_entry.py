"""What goes on record about an action: its hash, and what of it may be shown. Pure."""

from _blake2 import blake2b  # hashlib would load OpenSSL, four megabytes of it

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from termvisor.actions.input_line import strip_decoration
from termvisor.model.action.action import Action, Actor, find_action_pane, get_action_kind
from termvisor.model.action.approval import MAX_SHOWN_CHARS
from termvisor.model.action.audit import AuditEntry, AuditStage
from termvisor.model.action.preconditions import Preconditions
from termvisor.model.terminal.pane import PaneView
from termvisor.redaction import redact

_ENCODE = msgspec.json.Encoder(order="deterministic").encode


class AuditContext(Struct, frozen=True, kw_only=True):
    """One action from wish to outcome: everything that is the same in all its entries."""

    action: Action
    actor: Actor
    correlation: str
    view: PaneView | None = None
    preconditions: Preconditions = Preconditions()

    @property
    def action_hash(self) -> str:
        return hash_action(self.action, self.view)

    @property
    def pane_location(self) -> str:
        return "" if self.view is None else format_pane_location(self.view)

    def build_entry(self, stage: AuditStage, at: int, **more: object) -> AuditEntry:
        known = AuditEntry(
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
        return replace(known, **more)


def hash_action(action: Action, view: PaneView | None) -> str:
    """Stands for exactly this action on exactly this instance of a pane."""
    instance = b"" if view is None else _ENCODE(view.instance)
    return blake2b(_ENCODE(action) + b"\n" + instance, digest_size=16).hexdigest()


def hash_text(text: str, secret: bytes) -> str:
    """By which a text is known again on a screen, where it may be wrapped, indented and framed."""
    return blake2b(strip_decoration(text).encode("utf-8", "replace"), key=secret[:64], digest_size=16).hexdigest()


def format_pane_location(view: PaneView) -> str:
    """Where a pane is and what proves it, for people."""
    facts, server = view.facts, view.instance.server
    where = f"{facts.session_name}:{facts.window_index}.{facts.pane_index}"
    return redact(f"pane {view.id} ({server.target}/{where} {view.instance.mux_id}, pid {facts.pid}, {facts.command})")


def redact_action(action: Action) -> dict[str, object]:
    """The action as people and the record may see it."""
    fields = msgspec.to_builtins(action)
    return {name: _redact_value(value) for name, value in fields.items()}


def _redact_value(value: object) -> object:
    if isinstance(value, str):
        text = redact(value)
        return text if len(text) <= MAX_SHOWN_CHARS else f"{text[:MAX_SHOWN_CHARS]}… ({len(value)} characters)"
    if isinstance(value, list | tuple):
        return [_redact_value(one) for one in value]
    if isinstance(value, dict):
        return {redact(str(name)): _redact_value(one) for name, one in value.items()}
    return value
