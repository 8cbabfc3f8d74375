"""Sessions: conversations with an agent in a pane, from start to end, with token usage and messages."""

from typing import Literal

from msgspec import Struct, field

from termvisor.model.ids import PaneId, RuntimeId, SessionId

EndReason = Literal["completed", "limit_reached", "error", "manual", "pane_gone"]


class TokenUsage(Struct, frozen=True, kw_only=True):
    """Tokens and cost as reported by the agent. None means not reported."""

    total: int | None = None
    input: int | None = None
    output: int | None = None
    cached: int | None = None
    reasoning: int | None = None
    cost: float | None = None
    """US dollars, as reported by the agent or computed from the setting `agent_prices`."""
    is_estimated: bool = False
    """True if the cost is computed from token counts because the agent reported none."""
    context_used: float | None = None
    """The used fraction of the context window, 0 to 1; None if its size is unknown."""
    context_tokens: int | None = None
    """Tokens in the context window."""


class TokenCounts(Struct, frozen=True, kw_only=True):
    """Tokens by price class. ``cached`` were read from the prompt cache, ``written`` were written to it."""

    input: int = 0
    output: int = 0
    cached: int = 0
    written: int = 0


class MessageUsage(Struct, frozen=True, kw_only=True):
    """The reported tokens of one message from a model."""

    model: str
    spent: TokenCounts = TokenCounts()


class AgentSession(Struct, frozen=True, kw_only=True):
    id: SessionId = SessionId(0)
    runtime: RuntimeId
    pane: PaneId
    agent: str
    external_id: str = ""
    """The agent's own session id, used to resume the session."""
    title: str = ""
    model: str = ""
    version: str = ""
    cwd: str = ""
    started_at: int
    ended_at: int | None = None
    end_reason: EndReason | None = None
    usage: TokenUsage = TokenUsage()
    reported_usage: TokenUsage = field(default=TokenUsage(), name="told")
    """Totals reported by the agent. ``usage`` is this, or the sum of the messages if larger."""
    cost_so_far: float | None = None
    """The last cost in US dollars that the agent displayed without token counts."""
    by_model: dict[str, TokenCounts] = {}
    """Tokens per model, if the agent reports individual messages."""
    messages: dict[str, MessageUsage] = {}
    """The latest messages by id, because an agent reports each message several times."""
    resume: tuple[str, ...] = ()
    """The argv that resumes the session; empty if it cannot be resumed."""


MessageRole = Literal["user", "assistant"]
MESSAGE_ROLES: tuple[MessageRole, ...] = ("user", "assistant")


class TranscriptMessage(Struct, frozen=True, kw_only=True):
    """A message of the user or the agent in a session, from the agent's own transcript.

    ``key`` is the same each time the same message of a session is read.
    """

    pane: PaneId
    runtime: RuntimeId
    agent: str
    session: str
    role: MessageRole
    key: str
    at: int
    text: str
