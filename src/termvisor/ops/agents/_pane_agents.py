"""The panes that somebody asks for, each with the agent in it."""

from collections.abc import Iterable
from typing import Annotated

from msgspec import Meta, Struct

from termvisor.errors import BadRequest
from termvisor.model.agent.session import AgentView
from termvisor.model.agent.state import PRECEDENCE, AgentState, StateName
from termvisor.model.did_you_mean import nearest
from termvisor.model.terminal.pane import PaneView
from termvisor.ops.api.services import World
from termvisor.ops.panes._listing import Filters, SessionFilter, TargetFilter, chosen, filters

_BOTH: tuple[StateName, ...] = ("waiting_approval", "waiting_input")


class Chosen(Struct, frozen=True, kw_only=True):
    """Which panes count."""

    session: SessionFilter = None
    target: TargetFilter = None
    agent: Annotated[str | None, Meta(description="Only this agent, for example claude_code.")] = None
    state: Annotated[
        str | None, Meta(description="Only agents in this state or these: running,idle; `waiting` means both kinds.")
    ] = None
    needs_action: Annotated[bool, Meta(description="Only agents that need a person.")] = False


class Member(Struct, frozen=True):
    """A pane and its agent, if there is one."""

    pane: PaneView
    view: AgentView | None


def given(wanted: Chosen, **more: str | bool | None) -> Filters:
    """What the caller really asked for."""
    return filters(
        session=wanted.session,
        target=wanted.target,
        agent=wanted.agent,
        state=wanted.state,
        needs_action=wanted.needs_action,
        **more,
    )


async def crew(world: World, asked: Filters, *, gone: bool = False) -> list[Member]:
    """The panes that pass these filters, by id."""
    wanted = states(str(asked["state"])) if "state" in asked else None
    panes, views = await chosen(world, asked, gone=gone), await world.agents.views()
    if "agent" in asked and all(view.state.agent != asked["agent"] for view in views.values()):
        await check_agent(world, str(asked["agent"]))
    members = [Member(pane, views.get(pane.id) if pane.gone_at is None else None) for pane in panes]
    return [one for one in members if _passes(one.view, asked, wanted)]


async def check_agent(world: World, agent: str) -> None:
    """`BadRequest` where no agent has this name."""
    names = [kind.name for kind in await world.agents.kinds()]
    if agent not in names:
        near = nearest(agent, names)
        hint = f"Did you mean {near[0]}?" if near else f"The agents are {', '.join(names)}."
        raise BadRequest(f"no agent is called {agent!r}", hint=hint, details={"agents": names})


def _passes(view: AgentView | None, asked: Filters, wanted: frozenset[StateName] | None) -> bool:
    if view is None:
        return asked.keys().isdisjoint(("agent", "state", "needs_action"))
    return (
        asked.get("agent", view.state.agent) == view.state.agent
        and (wanted is None or view.state.value in wanted)
        and (view.needs_action or "needs_action" not in asked)
    )


def states(text: str) -> frozenset[StateName]:
    """The states that a filter names, with a comma between two; `BadRequest` for one that there is not."""
    found: set[StateName] = set()
    for word in text.split(","):
        name = word.strip().replace("-", "_")
        known = _BOTH if name == "waiting" else tuple(state for state in PRECEDENCE if state == name)
        if not known:
            near = nearest(name, ("waiting", *PRECEDENCE))
            hint = f"Did you mean {near[0]}?" if near else f"The states are {', '.join(PRECEDENCE)}."
            raise BadRequest(f"there is no state {word.strip()!r}", hint=hint, details={"states": list(PRECEDENCE)})
        found.update(known)
    return frozenset(found)


def agents_of(members: Iterable[Member]) -> list[AgentState]:
    """What the agents among them do."""
    return [one.view.state for one in members if one.view is not None]
