"""What the ops have in common that say something to an agent."""

from collections.abc import Callable

from msgspec import Struct

from termvisor.errors import NotFound
from termvisor.model.action.action import Action
from termvisor.model.action.outcome import Channel, Outcome
from termvisor.model.terminal.pane import PaneView
from termvisor.ops.api.gate_service import ActingWorld
from termvisor.ops.input._act import Deed, Wish, carried_out, grown, said
from termvisor.ops.input._preconditions import Acting, Guarded, terms_of
from termvisor.ops.panes._listing import named
from termvisor.ops.render.text import Look


class Spoken(Deed, frozen=True, kw_only=True):
    """``agent`` is who was spoken to; ``channel`` is `native` where its own server was, `keys` where keys were pressed
    in its terminal, and null where nothing was done.
    """

    agent: str = ""
    channel: Channel | None = None


class Listener(Struct, frozen=True):
    """An agent, and the pane that it lives in."""

    pane: PaneView
    agent: str


async def listener(world: ActingWorld, reference: str) -> Listener:
    pane = await named(world, reference)
    view = (await world.agents.views(pane.id)).get(pane.id)
    if view is None:
        raise NotFound(f"no agent is known to be in pane {pane.id}", hint="`visor panes` shows where agents are.")
    return Listener(pane, view.state.agent)


async def wished(world: ActingWorld, wanted: Guarded, reference: str, make: Callable[[Listener], Action]) -> Wish:
    """What is wanted of the agent in that pane."""
    found = await listener(world, reference)
    return Wish(action=make(found), terms=terms_of(wanted), pane=found.pane)


async def spoken(world: ActingWorld, wanted: Acting, wish: Wish) -> Spoken:
    agent = str(getattr(wish.action, "agent", ""))
    deed, outcome = await carried_out(world, wanted, wish)
    return grown(deed, Spoken, agent=agent, channel=_channel(outcome))


def _channel(outcome: Outcome | None) -> Channel | None:
    return None if outcome is None else outcome.channel


def exit_status(deed: Deed) -> int:
    return 6 if deed.status == "unknown" else 0


def plain(deed: Spoken, look: Look) -> str:
    return said(deed, look, "done" if deed.status == "done" else deed.status)


EXITS = (
    (4, "There is no such pane, or no agent in it."),
    (6, "It cannot be proven that it had its effect."),
    (75, "Nothing was done: reserved, or the pane or its screen is not as expected."),
    (77, "Nothing was done: denied, or a person must allow it first."),
)
