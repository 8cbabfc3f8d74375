"""Find and complete stored agent sessions for workflows, each with the command that resumes it."""

from termvisor.daemon.components import Components
from termvisor.model.agent.price import add_estimated_cost
from termvisor.model.agent.session import AgentSession
from termvisor.model.ids import PaneId, SessionId
from termvisor.model.settings.agents import build_resume_command
from termvisor.redaction import redact
from termvisor.workflows.calls import LastSessionCall, SessionRecord

TOKEN_COUNTS = ("total", "input", "cached", "output", "reasoning")
_MAX_SESSIONS = 200
"""Only the newest sessions are searched."""


class WorkflowSessions:
    def __init__(self, components: Components):
        self._components, self._sessions = components, components.store.sessions

    async def find_last_session(self, pane: PaneId, call: LastSessionCall) -> SessionRecord:
        await self._components.agent_tracking.tracker.wait_stored()
        sessions = await self._sessions.list(pane=None if call.anywhere else pane, limit=_MAX_SESSIONS)
        matching = [
            session
            for session in sessions
            if call.runtime in (None, session.runtime) and call.session in ("", session.external_id)
        ]
        return self._build_record(matching[-1]) if matching else SessionRecord()

    async def update_session(self, session: SessionId, external_id: str, tokens: dict[str, int]) -> SessionRecord:
        """Store the session id and token counts that are missing; an id without a resume command is not stored."""
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
