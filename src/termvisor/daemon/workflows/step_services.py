"""Give workflow steps access to the gate, to stored agent sessions, and to the settings they may read.

A project's `.termvisor.toml` is untrusted, because it comes with the project: it must be a small regular file owned by
the user, only the keys named here are read, and an invalid file is reported.
"""

import asyncio
import os
import stat
import tomllib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, cast

from termvisor.daemon.components import Components
from termvisor.errors import BadRequest, ConfigError
from termvisor.model.action.action import Action, Actor
from termvisor.model.action.approval import ApprovalOutcome, Verdict
from termvisor.model.action.audit import AuditEntry, AuditFilter
from termvisor.model.action.outcome import DeliveryRecord, Outcome
from termvisor.model.action.preconditions import Preconditions
from termvisor.model.agent.price import add_estimated_cost
from termvisor.model.agent.session import AgentSession
from termvisor.model.event import Scalar
from termvisor.model.ids import PaneId, SessionId
from termvisor.model.settings.agents import build_resume_command
from termvisor.model.settings.workflows import WorkflowSettings, find_compaction_prompt, find_prompt_problem
from termvisor.model.terminal.pane import PaneView
from termvisor.redaction import redact
from termvisor.workflows.calls import LastSessionCall
from termvisor.workflows.results import PreferenceValues, SessionRecord

if TYPE_CHECKING:
    from termvisor.daemon.services.gate import GateComponents

TOKEN_COUNTS = ("total", "input", "cached", "output", "reasoning")
_MAX_SESSIONS = 200
"""Only the newest sessions are searched."""
PROJECT_FILE = ".termvisor.toml"
COMPACTION_SETTING = "compaction_prompt"
"""The only setting that a project file may set."""
READABLE_SETTINGS = frozenset({"pause_on_limit", "auto_resume", "continue_prompt", "failover_profile"})
"""The settings that workflows may read."""
_MAX_FILE_BYTES = 64 << 10


class WorkflowGate:
    """The gate for workflow steps, built when a run first acts."""

    def __init__(self, components: Components, get_gate_components: "Callable[[], GateComponents]"):
        self._store, self._get_gate_components = components.store, get_gate_components

    async def run(self, action: Action, actor: Actor, preconditions: Preconditions) -> Outcome:
        return await self._get_gate_components().gate.run(action, actor, preconditions)

    async def preview(self, action: Action, actor: Actor, preconditions: Preconditions) -> tuple[Verdict, str, bool]:
        verdict, refused, _ = await self._get_gate_components().gate.preview(action, actor, preconditions)
        return (verdict, refused.text, refused.is_due_to_text) if refused else (verdict, "", False)

    async def list_audit_entries(self, correlation: str) -> list[AuditEntry]:
        return await self._store.audit.list(filters=AuditFilter(correlation=correlation))

    async def find_delivery(self, key: str) -> DeliveryRecord | None:
        return await self._store.deliveries.find_by_key(key)

    async def withdraw_approvals(self, correlation: str) -> None:
        for approval in await self._store.approvals.list():
            if f"{approval.correlation}.".startswith(f"{correlation}."):
                # None if it was answered or expired in the meantime.
                withdrawn = await self._store.approvals.withdraw(approval.id, _RUN_ENDED)
                self._get_gate_components().approvals.updates.publish(withdrawn or approval)


_RUN_ENDED = ApprovalOutcome(status="elsewhere", why="run_ended", text="its workflow run has ended")


class WorkflowSessions:
    """Finds and completes stored sessions, each with the command that resumes it."""

    def __init__(self, components: Components):
        self._components, self._sessions = components, components.store.sessions

    async def find_last_session(self, pane: PaneId, call: LastSessionCall) -> SessionRecord:
        # A session is stored shortly after its signal, but a run started by the same signal must find it.
        await self._components.agent_tracking.tracker.wait_stored()
        sessions = await self._sessions.list(pane=None if call.anywhere else pane, limit=_MAX_SESSIONS)
        matching = [
            session
            for session in sessions
            if call.runtime in (None, session.runtime) and call.session in ("", session.external_id)
        ]
        return self._build_record(matching[-1]) if matching else SessionRecord()

    async def update_session(self, session: SessionId, external_id: str, tokens: dict[str, int]) -> SessionRecord:
        """Add the session's id and token counts if they are missing; an id without a resume command is not stored."""
        stored = await self._sessions.find(session)
        if stored is None:
            return SessionRecord()
        name = stored.external_id or external_id
        registry = self._components.agent_tracking.adapter_registry
        resume = stored.resume or registry.build_resume_command(stored.agent, name)
        stored_name = name if resume else stored.external_id
        updated = await self._sessions.fill_missing_fields(session, stored_name, resume, tokens)
        return SessionRecord() if updated is None else self._build_record(updated)

    def _build_record(self, session: AgentSession) -> SessionRecord:
        settings = self._components.settings
        usage = add_estimated_cost(session, settings.agent_prices).usage
        counts = {name: count for name in TOKEN_COUNTS if (count := getattr(usage, name)) is not None}
        return SessionRecord(
            id=session.id,
            agent=session.agent,
            pane=session.pane,
            runtime=session.runtime,
            session=session.external_id,
            resume=build_resume_command(settings, session.agent, session.external_id) or session.resume,
            cwd=session.cwd,
            title=redact(session.title),
            is_over=session.ended_at is not None,
            end_reason=session.end_reason or "",
            tokens=counts,
            cost=usage.cost,
        )


async def read_preferences(
    settings: WorkflowSettings, names: Sequence[str], agent: str, view: PaneView | None
) -> PreferenceValues:
    """Return the values of the named settings. Raises BadRequest for a setting that workflows may not read."""
    if unreadable := [name for name in names if name not in READABLE_SETTINGS and name != COMPACTION_SETTING]:
        raise BadRequest(f"workflows may not read the setting {unreadable[0]!r}")
    values = {name: cast(Scalar, getattr(settings, name, None)) for name in names if name in READABLE_SETTINGS}
    if COMPACTION_SETTING not in names:
        return PreferenceValues(values=values)
    # The folder of a pane on another machine does not exist on this one.
    folder = view.facts.cwd if view is not None and view.instance.server.target == "local" else ""
    try:
        # Reading a file in an unknown folder may block, for example on a network file system.
        prompt = await asyncio.to_thread(read_project_prompt, folder) if folder else ""
    # A broken project file must not prevent the use of the user's own prompt.
    except ConfigError as error:
        prompt = find_compaction_prompt(settings, agent)
        return PreferenceValues(values={**values, COMPACTION_SETTING: prompt}, trouble=error.message)
    if prompt:
        path = os.path.join(folder, PROJECT_FILE)
        return PreferenceValues(values={**values, COMPACTION_SETTING: prompt}, origins={COMPACTION_SETTING: path})
    return PreferenceValues(values={**values, COMPACTION_SETTING: find_compaction_prompt(settings, agent)})


def read_project_prompt(folder: str) -> str:
    """Return the prompt that a project defines to be sent after a compaction, or an empty text.

    Raises ConfigError if the file is invalid.
    """
    path = os.path.join(folder, PROJECT_FILE)
    data = _read_project_file(path)
    try:
        content = tomllib.loads(data.decode()) if data else {}
    except (ValueError, RecursionError) as error:  # also raised for very long numbers and deeply nested tables
        raise ConfigError(f"{path}: {error}"[:300]) from error
    table = content.get("compaction", {})
    prompt = table.get("prompt", "") if isinstance(table, dict) else None
    if not isinstance(prompt, str):
        raise ConfigError(f"{path}: [compaction] prompt is not a string")
    # TOML allows several lines; a prompt must be one line of plain text.
    prompt = " ".join(prompt.split())
    if prompt and (problem := find_prompt_problem(prompt)):
        raise ConfigError(f"{path}: [compaction] prompt {problem}")
    return prompt


def _read_project_file(path: str) -> bytes:
    """Return the content of the file, empty if it does not exist; raise ConfigError if it is not safe to read."""
    try:
        # O_NONBLOCK: opening a FIFO would block; O_NOFOLLOW: a link may point to another user's file.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    # Most projects have none.
    except (FileNotFoundError, NotADirectoryError):
        return b""
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path} is ignored: {error}"[:300]) from error
    with open(descriptor, "rb") as file:
        # Checked on the open file, because the path may be replaced in between.
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_uid != os.getuid() or status.st_size > _MAX_FILE_BYTES:
            raise ConfigError(
                f"{path} is ignored: it must be a regular file that you own, of at most {_MAX_FILE_BYTES >> 10} KB"
            )
        return file.read(_MAX_FILE_BYTES)
