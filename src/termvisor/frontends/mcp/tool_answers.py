"""Build the results of tool calls: the page of an answer, marked where programs printed it, or an error."""

import os
from time import gmtime, strftime

from termvisor import __version__
from termvisor.frontends.mcp.json_codec import decode_json, encode_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from termvisor.frontends.mcp.answer_pages import AnswerPage

_CODEX_TURN = "x-codex-turn-metadata"


def build_page_result(page: "AnswerPage", answer_format: str, *, is_error: bool = False) -> "dict[str, Any]":
    """Return a result: plain text in one block, or JSON in a block of its own, so that programs can join pages."""
    notes = [page.note] if page.note else []
    if page.cursor:
        notes.append(
            f"cut: {page.shown} of {page.total} bytes so far. For the rest, repeat the call with"
            f' cursor="{page.cursor}", or ask for less.'
        )
    note = "\n".join(notes)
    if answer_format == "json":
        blocks = [page.text, note] if note else [page.text]
    else:
        text = _mark_untrusted(page.text) if page.is_untrusted else page.text
        blocks = [f"{text}\n{note}" if note else text]
    result: dict[str, Any] = {"content": [{"type": "text", "text": block} for block in blocks]}
    if is_error:
        result["isError"] = True
    if page.is_untrusted or page.cursor:
        result["_meta"] = {"termvisor/untrusted": page.is_untrusted, "termvisor/cursor": page.cursor}
    return result


def _mark_untrusted(text: str) -> str:
    # The mark is random, so that what a pane prints cannot end it.
    mark = os.urandom(4).hex()
    return f"<terminal-data {mark}>\n{text}\n</terminal-data {mark}>"


def build_error_result(code: str, message: str, hint: str) -> "dict[str, Any]":
    text = f"error: {code}: {message}\nhint: {hint}"
    return {"content": [{"type": "text", "text": text}], "isError": True}


def build_failure_result(error: "dict[str, Any]", answer_format: str) -> "dict[str, Any]":
    """Return the result for a call that the daemon did not run, from the error of its connection."""
    data = error.get("data") or {}
    code, hint = data.get("code", "internal"), data.get("hint", "See `visor logs`.")
    message = str(error.get("message", "the call failed"))
    if answer_format != "json":
        return build_error_result(code, message, hint)
    envelope = {
        "ok": False,
        "data": None,
        "error": {"code": code, "message": message, "details": data.get("details") or {}},
        "hint": hint,
        "elapsed_ms": 0.0,
        "version": __version__,
        "schema_version": 1,
        "now": strftime("%Y-%m-%dT%H:%M:%SZ", gmtime()),
        "mcp_version": "v1",
    }
    return {"content": [{"type": "text", "text": encode_json(envelope).decode()}], "isError": True}


def describe_cause(meta: "dict[str, Any]") -> str:
    """Return the client's own ids of a call, for the audit log: the tool use, or thread, turn and call."""
    turn = meta.get(_CODEX_TURN)
    if isinstance(turn, str):
        try:
            turn = decode_json(turn.encode("utf-8", "replace"))
        except (ValueError, RecursionError):
            turn = None
    turn_id = turn.get("turn_id") if isinstance(turn, dict) else None
    ids = (meta.get("claudecode/toolUseId"), meta.get("threadId"), turn_id, meta.get("callId"))
    return "-".join(value[:64] for value in ids if isinstance(value, str) and value)
