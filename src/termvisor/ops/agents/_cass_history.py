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
from termvisor.model.action.outcome import ProgramRunner, explain_missing_output
from termvisor.model.agent.session import AgentSession
from termvisor.ops.render.action_text import redact_fields
from termvisor.redaction import redact
from termvisor.system.subprocesses import is_installed

CASS_PROGRAM = "cass"
MAX_SESSIONS_LOOKED_UP = 10
"""Sessions of one listing for which it is asked, the newest ones."""
CassLookupStatus = Literal["found", "nothing", "not_installed", "failed", "not_asked"]


class CassHistory(Struct, frozen=True, kw_only=True):
    """``key`` is what the session was looked up by; ``answer`` what `cass` said, as it said it, with secrets taken
    out; ``detail`` says what went wrong.
    """

    status: CassLookupStatus
    key: Literal["session_id", "path", ""] = ""
    answer: Any = None
    detail: str = ""


async def fetch_histories(sessions: Sequence[AgentSession], run_program: ProgramRunner) -> list[CassHistory]:
    """One for each session, in their order."""
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
    tried = CassHistory(status="nothing")
    if session.external_id and not session.external_id.startswith("-"):
        tried = await _query_cass(("query", "--session-id", session.external_id), "session_id", run_program)
    if tried.status == "nothing" and session.cwd.startswith("/"):
        return await _query_cass(("search", "--path", session.cwd, "--agent", session.agent), "path", run_program)
    return tried


async def _query_cass(
    arguments: tuple[str, ...], key: Literal["session_id", "path"], run_program: ProgramRunner
) -> CassHistory:
    try:
        outcome = await run_program(RunProgram(argv=(CASS_PROGRAM, *arguments, "--format", "json")))
    except Refused as error:
        return CassHistory(status="not_asked", detail=redact(error.message)[:500])
    said = outcome.answered
    if said is None:
        status: CassLookupStatus = "not_asked" if outcome.status == "suppressed" else "failed"
        return CassHistory(status=status, detail=redact(explain_missing_output(outcome, CASS_PROGRAM))[:500])
    if said.exit_status:
        last = said.errors.decode("utf-8", "replace").strip().rpartition("\n")[2]
        detail = redact(last or f"it ended with status {said.exit_status}")[:500]
        return CassHistory(status="failed", key=key, detail=detail)
    try:
        answer = msgspec.json.decode(said.out) if said.out.strip() else None
    except msgspec.DecodeError:
        return CassHistory(status="failed", key=key, detail="its answer is no JSON")
    return CassHistory(status="found" if answer else "nothing", key=key, answer=redact_fields(answer) or None)
