"""Look up agent sessions in `cass`, an optional program that indexes the histories of coding agents.

A session is looked up by the agent's own session id, else by its directory. Answers are redacted and passed on
unchanged; a missing program is a status, not an error.
"""

from collections.abc import Sequence
from typing import Any, Literal

import msgspec
from msgspec import Struct

from termvisor.errors import Refused
from termvisor.model.action.action import RunProgram
from termvisor.model.action.outcome import ProgramRunner, explain_missing_output
from termvisor.model.agent.session import AgentSession
from termvisor.ops.render.action_text import redact_fields
from termvisor.redaction import redact
from termvisor.system.subprocesses import is_installed

CASS_PROGRAM = "cass"
MAX_SESSIONS_LOOKED_UP = 10
"""Only the newest sessions of a listing are looked up: each lookup starts a process."""
CassLookupStatus = Literal["found", "nothing", "not_installed", "failed", "not_asked"]


class CassHistory(Struct, frozen=True, kw_only=True):
    """``key`` is the key that the session was looked up by; ``answer`` is the output of `cass`, redacted; ``detail`` is
    the error.
    """

    status: CassLookupStatus
    key: Literal["session_id", "path", ""] = ""
    answer: Any = None
    detail: str = ""


async def fetch_histories(sessions: Sequence[AgentSession], run_program: ProgramRunner) -> list[CassHistory]:
    """Return one history for each session, in the same order."""
    if not is_installed(CASS_PROGRAM):
        return [CassHistory(status="not_installed") for _ in sessions]
    older = len(sessions) - MAX_SESSIONS_LOOKED_UP
    return [
        await _look_up_session(session, run_program)
        if number >= older
        else CassHistory(status="not_asked", detail=f"only the newest {MAX_SESSIONS_LOOKED_UP} sessions are looked up")
        for number, session in enumerate(sessions)
    ]


async def _look_up_session(session: AgentSession, run_program: ProgramRunner) -> CassHistory:
    history = CassHistory(status="nothing")
    # The id comes from the agent: one that starts with a dash would be read as an option of cass.
    if session.external_id and not session.external_id.startswith("-"):
        history = await _query_cass(("query", "--session-id", session.external_id), "session_id", run_program)
    if history.status == "nothing" and session.cwd.startswith("/"):
        return await _query_cass(("search", "--path", session.cwd, "--agent", session.agent), "path", run_program)
    return history


async def _query_cass(
    arguments: tuple[str, ...], key: Literal["session_id", "path"], run_program: ProgramRunner
) -> CassHistory:
    try:
        outcome = await run_program(RunProgram(argv=(CASS_PROGRAM, *arguments, "--format", "json")))
    except Refused as error:
        return CassHistory(status="not_asked", detail=redact(error.message)[:500])
    output = outcome.answered
    if output is None:
        status: CassLookupStatus = "not_asked" if outcome.status == "suppressed" else "failed"
        return CassHistory(status=status, detail=redact(explain_missing_output(outcome, CASS_PROGRAM))[:500])
    if output.exit_status:
        last_line = output.errors.decode("utf-8", "replace").strip().rpartition("\n")[2]
        detail = redact(last_line or f"exit status {output.exit_status}")[:500]
        return CassHistory(status="failed", key=key, detail=detail)
    try:
        answer = msgspec.json.decode(output.out) if output.out.strip() else None
    except msgspec.DecodeError:
        return CassHistory(status="failed", key=key, detail="its output is not JSON")
    return CassHistory(status="found" if answer else "nothing", key=key, answer=redact_fields(answer) or None)
