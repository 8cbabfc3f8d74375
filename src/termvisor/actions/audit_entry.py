"""What goes on record about an action: its hash, and what of it may be shown. Pure."""

from _blake2 import blake2b  # hashlib would load OpenSSL, four megabytes of it

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from termvisor.actions.input_line import squeeze
from termvisor.model.action.action import Action, Actor, kind_of, pane_of
from termvisor.model.action.approval import SHOWN
from termvisor.model.action.audit import AuditEntry, Stage
from termvisor.model.action.preconditions import Terms
from termvisor.model.terminal.pane import PaneView
from termvisor.redaction import redact

_ENCODE = msgspec.json.Encoder(order="deterministic").encode


class Case(Struct, frozen=True, kw_only=True):
    """One action from wish to outcome: everything that is the same in all its entries."""

    action: Action
    actor: Actor
    correlation: str
    view: PaneView | None = None
    terms: Terms = Terms()

    @property
    def action_hash(self) -> str:
        return hash_of(self.action, self.view)

    @property
    def place(self) -> str:
        return "" if self.view is None else place_of(self.view)

    def entry(self, stage: Stage, at: int, **more: object) -> AuditEntry:
        known = AuditEntry(
            at=at,
            correlation=self.correlation,
            stage=stage,
            kind=kind_of(self.action),
            actor=self.actor,
            pane=pane_of(self.action),
            place=self.place,
            action=shown(self.action),
            action_hash=self.action_hash,
            undoes=self.terms.undoes.correlation if self.terms.undoes else "",
        )
        return replace(known, **more)


def hash_of(action: Action, view: PaneView | None) -> str:
    """Stands for exactly this action on exactly this instance of a pane."""
    instance = b"" if view is None else _ENCODE(view.instance)
    return blake2b(_ENCODE(action) + b"\n" + instance, digest_size=16).hexdigest()


def text_hash(text: str, secret: bytes) -> str:
    """By which a text is known again on a screen, where it may be wrapped, indented and framed."""
    return blake2b(squeeze(text).encode("utf-8", "replace"), key=secret[:64], digest_size=16).hexdigest()


def place_of(view: PaneView) -> str:
    """Where a pane is and what proves it, for people."""
    facts, server = view.facts, view.instance.server
    where = f"{facts.session_name}:{facts.window_index}.{facts.pane_index}"
    return redact(f"pane {view.id} ({server.target}/{where} {view.instance.mux_id}, pid {facts.pid}, {facts.command})")


def shown(action: Action) -> dict[str, object]:
    """The action as people and the record may see it."""
    fields = msgspec.to_builtins(action)
    return {name: _shown(value) for name, value in fields.items()}


def _shown(value: object) -> object:
    if isinstance(value, str):
        text = redact(value)
        return text if len(text) <= SHOWN else f"{text[:SHOWN]}… ({len(value)} characters)"
    if isinstance(value, list | tuple):
        return [_shown(one) for one in value]
    if isinstance(value, dict):
        return {redact(str(name)): _shown(one) for name, one in value.items()}
    return value
