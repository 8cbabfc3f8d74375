"""Hash, redact and describe an action and its pane for the audit log. Pure."""

from _blake2 import blake2b  # hashlib would load OpenSSL, 4 MB of memory

import msgspec

from termvisor.actions.input_line import strip_decoration
from termvisor.model.action.action import Action
from termvisor.model.action.approval import MAX_SHOWN_CHARS
from termvisor.model.terminal.pane import PaneView
from termvisor.redaction import redact

_ENCODE = msgspec.json.Encoder(order="deterministic").encode


def hash_action(action: Action, view: PaneView | None) -> str:
    """Return the digest of exactly this action on exactly this instance of a pane; approvals are bound to it."""
    instance = b"" if view is None else _ENCODE(view.instance)
    return blake2b(_ENCODE(action) + b"\n" + instance, digest_size=16).hexdigest()


def hash_text(text: str, secret: bytes) -> str:
    """Return a keyed digest that recognizes the text on a screen, even if it is wrapped, indented or framed there."""
    return blake2b(strip_decoration(text).encode("utf-8", "replace"), key=secret[:64], digest_size=16).hexdigest()


def format_pane_location(view: PaneView) -> str:
    """Return the pane's location and process for people, with secrets redacted."""
    facts, server = view.facts, view.instance.server
    where = f"{facts.session_name}:{facts.window_index}.{facts.pane_index}"
    return redact(f"pane {view.id} ({server.target}/{where} {view.instance.mux_id}, pid {facts.pid}, {facts.command})")


def redact_action(action: Action) -> dict[str, object]:
    """Return the action's fields with secrets redacted and long texts cut, as the audit log and the inbox show them."""
    fields = msgspec.to_builtins(action)
    return {name: _redact_value(value) for name, value in fields.items()}


def _redact_value(value: object) -> object:
    if isinstance(value, str):
        text = redact(value)
        return text if len(text) <= MAX_SHOWN_CHARS else f"{text[:MAX_SHOWN_CHARS]}… ({len(value)} characters)"
    if isinstance(value, list | tuple):
        return [_redact_value(item) for item in value]
    if isinstance(value, dict):
        return {redact(str(name)): _redact_value(item) for name, item in value.items()}
    return value
