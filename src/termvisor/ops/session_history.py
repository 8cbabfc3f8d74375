"""The link from a session to what `cass` knows of it, where that program is installed: it keeps agents' histories.

It is asked by the agent's own id of the session, else by the folder in which the session ran. Whatever it answers is
passed on, redacted; that it is not there is no trouble.
"""

import asyncio
import shutil
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec
from msgspec import Struct

from termvisor.model.session import AgentSession
from termvisor.ops.described import masked
from termvisor.redact import redact
from termvisor.settings import environment
from termvisor.spawn import ask

PROGRAM = "cass"
MOST = 10
"""Sessions of one listing for which it is asked, the newest ones."""
_PATIENCE = 5.0
_LARGEST = 256 << 10
"""Bytes of one answer."""
Status = Literal["found", "nothing", "not_installed", "failed", "not_asked"]


class SessionHistory(Struct, frozen=True, kw_only=True):
    """``key`` is what the session was looked up by; ``answer`` what `cass` said, as it said it, with secrets taken
    out; ``detail`` says what went wrong.
    """

    status: Status
    key: Literal["session_id", "path", ""] = ""
    answer: Any = None
    detail: str = ""


async def histories(sessions: Sequence[AgentSession], environ: Mapping[str, str] | None = None) -> list[SessionHistory]:
    """One for each session, in their order."""
    around = environment() if environ is None else environ
    program = shutil.which(PROGRAM, path=around.get("PATH", ""))
    if program is None:
        return [SessionHistory(status="not_installed") for _ in sessions]
    older = len(sessions) - MOST
    return [
        await asyncio.to_thread(_asked, program, session, around)
        if number >= older
        else SessionHistory(status="not_asked", detail=f"only the newest {MOST} sessions are looked up")
        for number, session in enumerate(sessions)
    ]


def _asked(program: str, session: AgentSession, environ: Mapping[str, str]) -> SessionHistory:
    tried = SessionHistory(status="nothing")
    if session.external_id and not session.external_id.startswith("-"):
        tried = _answer([program, "query", "--session-id", session.external_id], "session_id", environ)
    if tried.status == "nothing" and session.cwd:
        return _answer([program, "search", "--path", session.cwd, "--agent", session.agent], "path", environ)
    return tried


def _answer(argv: list[str], key: Literal["session_id", "path"], environ: Mapping[str, str]) -> SessionHistory:
    status, out, errors = ask([*argv, "--format", "json"], timeout=_PATIENCE, env=environ)
    if status or len(out) > _LARGEST:
        words = errors.decode("utf-8", "replace").strip().rpartition("\n")[2]
        why = "its answer is too long" if not status else words or f"it ended with status {status}"
        return SessionHistory(status="failed", key=key, detail=redact(why)[:500])
    try:
        answer = msgspec.json.decode(out) if out.strip() else None
    except msgspec.DecodeError:
        return SessionHistory(status="failed", key=key, detail="its answer is no JSON")
    return SessionHistory(status="found" if answer else "nothing", key=key, answer=masked(answer) or None)
