"""A Session is one conversation of an agent: from its start in a pane to its end, with what it used."""

from typing import Literal

from msgspec import Struct

from termvisor.model.agent.attention import NeedKind
from termvisor.model.agent.identification import AgentSignature
from termvisor.model.agent.state import AgentState
from termvisor.model.ids import PaneId, RuntimeId, SessionId

EndReason = Literal["completed", "limit_reached", "error", "manual", "pane_gone"]


class TokenUsage(Struct, frozen=True, kw_only=True):
    """Tokens and money, as far as the agent told them. None means that it did not say."""

    total: int | None = None
    input: int | None = None
    output: int | None = None
    cached: int | None = None
    reasoning: int | None = None
    cost: float | None = None
    """US dollars, by the agent's own account or by the price table in the settings."""
    is_estimated: bool = False
    """The cost is reckoned from tokens by the price table; the agent told none."""
    context_used: float | None = None
    """How full the context window is, 0 to 1; None where its size is not known."""
    context_tokens: int | None = None
    """How much stands in the context window."""


class TokenCounts(Struct, frozen=True, kw_only=True):
    """Tokens by what they cost. ``cached`` were read from a cache, ``written`` were put into one."""

    input: int = 0
    output: int = 0
    cached: int = 0
    written: int = 0


class MessageUsage(Struct, frozen=True, kw_only=True):
    """What one answer of a model took, as far as it was told."""

    model: str
    spent: TokenCounts = TokenCounts()


class AgentSession(Struct, frozen=True, kw_only=True):
    id: SessionId = SessionId(0)
    runtime: RuntimeId
    pane: PaneId
    agent: str
    external_id: str = ""
    """The agent's own id of it, by which it can be resumed."""
    title: str = ""
    model: str = ""
    version: str = ""
    cwd: str = ""
    started_at: int
    ended_at: int | None = None
    end_reason: EndReason | None = None
    usage: TokenUsage = TokenUsage()
    told: TokenUsage = TokenUsage()
    """Whole sums by the agent's own account; ``usage`` is this, or the sum of its answers where that is more."""
    cost_so_far: float | None = None
    """What the agent showed last of what it costs, in US dollars; it tells no tokens with it."""
    by_model: dict[str, TokenCounts] = {}
    """What each model took, where the agent tells single answers."""
    messages: dict[str, MessageUsage] = {}
    """The last answers by their ids: an agent tells each of them several times."""
    resume: tuple[str, ...] = ()
    """The argv that takes it up again; empty where that is not possible."""


class AgentView(Struct, frozen=True, kw_only=True):
    """An agent as faces show it."""

    state: AgentState
    version: int
    """Of the published state; it rises with every change."""
    title: str = ""
    need: NeedKind | None = None
    """What it needs of a person; None where it needs nobody."""
    needs_action: bool = False
    session: AgentSession | None = None
    signature: AgentSignature = AgentSignature()
    """Why the pane is taken for this agent's."""


class AgentKind(Struct, frozen=True, kw_only=True):
    """An agent program that the product knows."""

    name: str
    contract_version: tuple[int, int]
    capabilities: tuple[str, ...]
    sources: tuple[str, ...]
    """Where it speaks, the best first."""
    is_enabled: bool
    failures: int = 0
    """How often its adapter failed since the daemon started."""
    recorded: tuple[str, ...] = ()
    """The versions of the program of which we have recordings."""


class SourceHealth(Struct, frozen=True, kw_only=True):
    """How one place is doing in which agents speak."""

    agent: str
    source: str
    where: str = ""
    """A path or address, for a person to look at."""
    status: Literal["well", "quiet", "absent", "down"] = "quiet"
    detail: str = ""
    heard_at: int | None = None
    records: int = 0
    signals: int = 0
    dropped: int = 0
    lag: float | None = None
    """Seconds from the agent's own time to ours, for the last record that told one."""
