"""Select panes together with their agents by session, agent, state and need."""

from collections.abc import Iterable, Sequence
from typing import Annotated, TypeVar

from msgspec import Meta, Struct

from termvisor.errors import BadRequest
from termvisor.model.agent.agent_view import AgentView
from termvisor.model.agent.attention import list_needs
from termvisor.model.agent.state import PRECEDENCE, AgentState, StateName
from termvisor.model.terminal.pane import PaneView
from termvisor.ops.api.services import Services
from termvisor.ops.panes._pane_reference import SessionFilter, TargetFilter, filter_panes
from termvisor.ops.render.results import ListingFilters, build_filters
from termvisor.ops.render.text import suggest_name

N = TypeVar("N", bound=str)
# The filter `waiting` stands for both.
_WAITING_STATES: tuple[StateName, ...] = ("waiting_approval", "waiting_input")
_MAX_LISTED_REQUESTS = 1000


class AgentFilterArgs(Struct, frozen=True, kw_only=True):
    """Choose panes by session, target, agent and state."""

    session: SessionFilter = None
    target: TargetFilter = None
    agent: Annotated[str | None, Meta(description="Only this agent, for example claude_code.")] = None
    state: Annotated[
        str | None,
        Meta(description="Only agents in these states, comma-separated: running,idle; `waiting` means both kinds."),
    ] = None
    needs_action: Annotated[bool, Meta(description="Only agents that need you.")] = False


class PaneWithAgent(Struct, frozen=True):
    """A pane and its agent, if there is one."""

    pane: PaneView
    view: AgentView | None


def collect_agent_filters(args: AgentFilterArgs, **more: str | bool | None) -> ListingFilters:
    """Return the filters that are set."""
    return build_filters(
        session=args.session,
        target=args.target,
        agent=args.agent,
        state=args.state,
        needs_action=args.needs_action,
        **more,
    )


async def select_panes_with_agents(
    services: Services, active_filters: ListingFilters, *, gone: bool = False
) -> list[PaneWithAgent]:
    """Return the panes that pass these filters, by id. Raises BadRequest for an unknown state or agent name."""
    allowed_states = parse_state_filter(str(active_filters["state"])) if "state" in active_filters else None
    panes, views = await filter_panes(services, active_filters, include_gone=gone), await services.agents.list_views()
    if "agent" in active_filters:
        await check_agent_name(services, str(active_filters["agent"]))
    # The last state of an agent is known for a while after its pane was closed.
    members = [PaneWithAgent(pane, views.get(pane.id) if pane.gone_at is None else None) for pane in panes]
    return [member for member in members if _matches_filters(member.view, active_filters, allowed_states)]


async def check_agent_name(services: Services, agent: str) -> None:
    """Raise BadRequest if no adapter and no running agent has this name: an empty list would not show a misspelling."""
    names = [kind.name for kind in await services.agents.list_kinds()]
    running = {view.state.agent for view in (await services.agents.list_views()).values()}
    if agent not in names and agent not in running:
        hint = suggest_name(agent, names, f"Known agents: {', '.join(names)}.")
        raise BadRequest(f"unknown agent {agent!r}", hint=hint, details={"agents": names})


def _matches_filters(
    view: AgentView | None, active_filters: ListingFilters, allowed_states: frozenset[StateName] | None
) -> bool:
    if view is None:
        return active_filters.keys().isdisjoint(("agent", "state", "needs_action"))
    return (
        active_filters.get("agent", view.state.agent) == view.state.agent
        and (allowed_states is None or view.state.value in allowed_states)
        and (view.needs_action or "needs_action" not in active_filters)
    )


def parse_state_filter(text: str) -> frozenset[StateName]:
    """Parse a comma-separated list of states. Raises BadRequest for an unknown one."""
    return parse_state_names(text, PRECEDENCE)


def parse_state_names(text: str, known: Sequence[N]) -> frozenset[N]:
    """Parse a comma-separated list of ``known`` names, of which some are states. Raises BadRequest for another one."""
    names: set[N] = set()
    for word in text.split(","):
        name = word.strip().replace("-", "_")
        matching = [one for one in known if one in (_WAITING_STATES if name == "waiting" else (name,))]
        if not matching:
            hint = suggest_name(name, ("waiting", *known), f"Known states: {', '.join(known)}.")
            raise BadRequest(f"unknown state {word.strip()!r}", hint=hint, details={"states": list(known)})
        names.update(matching)
    return frozenset(names)


def list_agent_states(members: Iterable[PaneWithAgent]) -> list[AgentState]:
    return [member.view.state for member in members if member.view is not None]


def list_agents_needing_action(members: Iterable[PaneWithAgent]) -> list[PaneWithAgent]:
    """Return the members whose agent needs a person, most urgent first."""
    by_pane = {member.pane.id: member for member in members}
    return [by_pane[need.pane] for need in list_needs(list_agent_states(by_pane.values()))]


async def list_open_requests(services: Services) -> dict[int, tuple[int, ...]]:
    """Return the numbers of the agents' open permission requests by pane, oldest first."""
    requests: dict[int, tuple[int, ...]] = {}
    for approval in await services.gate.approvals.list(is_open=True, limit=_MAX_LISTED_REQUESTS):
        if approval.kind == "answer_agent" and approval.pane is not None:
            requests[approval.pane] = (*requests.get(approval.pane, ()), approval.id)
    return requests
