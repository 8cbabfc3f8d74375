"""The link from a session to what `cass` knows of it, where that program is installed: it keeps agents' histories.

It is asked by the agent's own id of the session, else by the folder in which the session ran. Whatever it answers is
passed on, redacted; that it is not there is no trouble.
"""

from collections.abc import Sequence
from typing import Any, Literal

import msgspec
from msgspec import Struct

from termvisor.errors import Refused
from termvisor.model.action.action import RunProgram
from termvisor.model.action.outcome import RunIt, untold
from termvisor.model.agent.session import AgentSession
from termvisor.ops.render.action_text import masked
from termvisor.redaction import redact
from termvisor.system.subprocesses import is_installed

PROGRAM = "cass"
MOST = 10
"""Sessions of one listing for which it is asked, the newest ones."""
Status = Literal["found", "nothing", "not_installed", "failed", "not_asked"]


class SessionHistory(Struct, frozen=True, kw_only=True):
    """``key`` is what the session was looked up by; ``answer`` what `cass` said, as it said it, with secrets taken
    out; ``detail`` says what went wrong.
    """

    status: Status
    key: Literal["session_id", "path", ""] = ""
    answer: Any = None
    detail: str = ""


async def histories(sessions: Sequence[AgentSession], run_it: RunIt) -> list[SessionHistory]:
    """One for each session, in their order."""
    if not is_installed(PROGRAM):
        return [SessionHistory(status="not_installed") for _ in sessions]
    older = len(sessions) - MOST
    return [
        await _asked(session, run_it)
        if number >= older
        else SessionHistory(status="not_asked", detail=f"only the newest {MOST} sessions are looked up")
        for number, session in enumerate(sessions)
    ]


async def _asked(session: AgentSession, run_it: RunIt) -> SessionHistory:
    tried = SessionHistory(status="nothing")
    if session.external_id and not session.external_id.startswith("-"):
        tried = await _answer(("query", "--session-id", session.external_id), "session_id", run_it)
    if tried.status == "nothing" and session.cwd.startswith("/"):
        return await _answer(("search", "--path", session.cwd, "--agent", session.agent), "path", run_it)
    return tried


async def _answer(words: tuple[str, ...], key: Literal["session_id", "path"], run_it: RunIt) -> SessionHistory:
    try:
        outcome = await run_it(RunProgram(argv=(PROGRAM, *words, "--format", "json")))
    except Refused as error:
        return SessionHistory(status="not_asked", detail=redact(error.message)[:500])
    said = outcome.answered
    if said is None:
        status: Status = "not_asked" if outcome.status == "suppressed" else "failed"
        return SessionHistory(status=status, detail=redact(untold(outcome, PROGRAM))[:500])
    if said.exit_status:
        last = said.errors.decode("utf-8", "replace").strip().rpartition("\n")[2]
        detail = redact(last or f"it ended with status {said.exit_status}")[:500]
        return SessionHistory(status="failed", key=key, detail=detail)
    try:
        answer = msgspec.json.decode(said.out) if said.out.strip() else None
    except msgspec.DecodeError:
        return SessionHistory(status="failed", key=key, detail="its answer is no JSON")
    return SessionHistory(status="found" if answer else "nothing", key=key, answer=masked(answer) or None)
