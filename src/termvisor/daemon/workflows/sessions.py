"""The conversations of agents as workflows see them: the store's record, and the command that takes each up again."""

from termvisor.daemon.components import Components
from termvisor.model.agent.price import add_estimated_cost
from termvisor.model.agent.session import AgentSession
from termvisor.model.ids import PaneId, SessionId
from termvisor.model.settings.agents import build_resume_command
from termvisor.redaction import redact
from termvisor.workflows.calls import LastSessionCall, SessionRecord

TOKEN_COUNTS = ("total", "input", "cached", "output", "reasoning")
_MAX_SESSIONS = 200
"""How many sessions are looked through, the newest."""


class WorkflowSessions:
    def __init__(self, components: Components):
        self._components, self._sessions = components, components.store.sessions

    async def find_last_session(self, pane: PaneId, call: LastSessionCall) -> SessionRecord:
        await self._components.agent_tracking.tracker.wait_stored()
        found = await self._sessions.list(pane=None if call.anywhere else pane, limit=_MAX_SESSIONS)
        fitting = [one for one in found if call.runtime in (None, one.runtime)]
        fitting = [one for one in fitting if call.session in ("", one.external_id)]
        return self._build_conversation(fitting[-1]) if fitting else SessionRecord()

    async def update_session(self, session: SessionId, external_id: str, tokens: dict[str, int]) -> SessionRecord:
        known = await self._sessions.find(session)
        if known is None:
            return SessionRecord()
        name = known.external_id or external_id
        resume = known.resume or self._components.agent_tracking.adapter_registry.build_resume_command(
            known.agent, name
        )
        kept = await self._sessions.fill_missing_fields(session, name if resume else known.external_id, resume, tokens)
        return SessionRecord() if kept is None else self._build_conversation(kept)

    def _build_conversation(self, session: AgentSession) -> SessionRecord:
        settings = self._components.settings
        shown = add_estimated_cost(session, settings.agent_prices)
        usage = shown.usage
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
