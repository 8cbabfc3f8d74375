"""The panes that somebody asks for, each with the agent in it."""

from collections.abc import Iterable
from typing import Annotated

from msgspec import Meta, Struct

from termvisor.errors import BadRequest
from termvisor.model.agent.session import AgentView
from termvisor.model.agent.state import PRECEDENCE, AgentState, StateName
from termvisor.model.did_you_mean import find_close_matches
from termvisor.model.terminal.pane import PaneView
from termvisor.ops.api.services import Services
from termvisor.ops.panes._listing import ListingFilters, SessionFilter, TargetFilter, build_filters, filter_panes

_WAITING_STATES: tuple[StateName, ...] = ("waiting_approval", "waiting_input")


class AgentFilterArgs(Struct, frozen=True, kw_only=True):
    """Which panes count."""

    session: SessionFilter = None
    target: TargetFilter = None
    agent: Annotated[str | None, Meta(description="Only this agent, for example claude_code.")] = None
    state: Annotated[
        str | None, Meta(description="Only agents in this state or these: running,idle; `waiting` means both kinds.")
    ] = None
    needs_action: Annotated[bool, Meta(description="Only agents that need a person.")] = False


class PaneWithAgent(Struct, frozen=True):
    """A pane and its agent, if there is one."""

    pane: PaneView
    view: AgentView | None


def collect_agent_filters(args: AgentFilterArgs, **more: str | bool | None) -> ListingFilters:
    """What the caller really asked for."""
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
    """The panes that pass these filters, by id."""
    wanted = parse_state_filter(str(active_filters["state"])) if "state" in active_filters else None
    panes, views = await filter_panes(services, active_filters, include_gone=gone), await services.agents.list_views()
    if "agent" in active_filters and all(view.state.agent != active_filters["agent"] for view in views.values()):
        await check_agent_name(services, str(active_filters["agent"]))
    members = [PaneWithAgent(pane, views.get(pane.id) if pane.gone_at is None else None) for pane in panes]
    return [one for one in members if _matches_filters(one.view, active_filters, wanted)]


async def check_agent_name(services: Services, agent: str) -> None:
    """`BadRequest` where no agent has this name."""
    names = [kind.name for kind in await services.agents.list_kinds()]
    if agent not in names:
        near = find_close_matches(agent, names)
        hint = f"Did you mean {near[0]}?" if near else f"The agents are {', '.join(names)}."
        raise BadRequest(f"no agent is called {agent!r}", hint=hint, details={"agents": names})


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
    """The states that a filter names, with a comma between two; `BadRequest` for one that there is not."""
    found: set[StateName] = set()
    for word in text.split(","):
        name = word.strip().replace("-", "_")
        known = _WAITING_STATES if name == "waiting" else tuple(state for state in PRECEDENCE if state == name)
        if not known:
            near = find_close_matches(name, ("waiting", *PRECEDENCE))
            hint = f"Did you mean {near[0]}?" if near else f"The states are {', '.join(PRECEDENCE)}."
            raise BadRequest(f"there is no state {word.strip()!r}", hint=hint, details={"states": list(PRECEDENCE)})
        found.update(known)
    return frozenset(found)


def list_agent_states(members: Iterable[PaneWithAgent]) -> list[AgentState]:
    """What the agents among them do."""
    return [one.view.state for one in members if one.view is not None]
