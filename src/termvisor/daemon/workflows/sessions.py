"""The conversations of agents as workflows see them: the store's record, and the command that takes each up again."""

from termvisor.daemon.components import Parts
from termvisor.model.agent.price import priced
from termvisor.model.agent.session import AgentSession
from termvisor.model.ids import PaneId, SessionId
from termvisor.model.settings.agents import resume_command
from termvisor.redaction import redact
from termvisor.workflows.calls import Conversation, LastSession

COUNTS = ("total", "input", "cached", "output", "reasoning")
_BACK = 200
"""How many sessions are looked through, the newest."""


class LiveConversations:
    def __init__(self, parts: Parts):
        self._parts, self._sessions = parts, parts.store.sessions

    async def last(self, pane: PaneId, wanted: LastSession) -> Conversation:
        await self._parts.attending.knowing.stored()
        found = await self._sessions.list(pane=None if wanted.anywhere else pane, limit=_BACK)
        fitting = [one for one in found if wanted.runtime in (None, one.runtime)]
        fitting = [one for one in fitting if wanted.session in ("", one.external_id)]
        return self._told(fitting[-1]) if fitting else Conversation()

    async def keep(self, session: SessionId, external_id: str, tokens: dict[str, int]) -> Conversation:
        known = await self._sessions.one(session)
        if known is None:
            return Conversation()
        name = known.external_id or external_id
        resume = known.resume or self._parts.attending.circle.resume(known.agent, name)
        kept = await self._sessions.complete(session, name if resume else known.external_id, resume, tokens)
        return Conversation() if kept is None else self._told(kept)

    def _told(self, session: AgentSession) -> Conversation:
        settings = self._parts.settings
        shown = priced(session, settings.agent_prices)
        usage = shown.usage
        counts = {name: count for name in COUNTS if (count := getattr(usage, name)) is not None}
        return Conversation(
            id=session.id,
            agent=session.agent,
            pane=session.pane,
            runtime=session.runtime,
            session=session.external_id,
            resume=resume_command(settings, session.agent, session.external_id) or session.resume,
            cwd=session.cwd,
            title=redact(session.title),
            is_over=session.ended_at is not None,
            end_reason=session.end_reason or "",
            tokens=counts,
            cost=usage.cost,
        )
