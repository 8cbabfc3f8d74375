"""The op `spawn`: start a program in a new session, window or pane."""

from typing import Annotated, Literal

from msgspec import Meta

from termvisor.errors import BadRequest
from termvisor.model.action.action import Spawn as Action
from termvisor.model.action.outcome import Outcome
from termvisor.model.terminal.pane import PaneView
from termvisor.ops.accounts._account_item import standing
from termvisor.ops.api.gate_service import ActingWorld
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.input._act import Deed, Wish, carried_out, grown, said
from termvisor.ops.input._preconditions import Acting, terms_of
from termvisor.ops.panes._listing import PaneIdentity, identity, named
from termvisor.ops.panes._wait_first import first
from termvisor.ops.render.text import Look

_SEEN_WITHIN = 5.0
"""Seconds that a new pane has to get its number."""


Command = Annotated[
    tuple[str, ...],
    Meta(description="The program and its arguments, after --; none: your shell.", extra={"positional": "rest"}),
]


class Starting(Acting, frozen=True, kw_only=True):
    """In which surroundings a program starts."""

    cwd: Annotated[str, Meta(description="The folder it starts in.", extra={"is_path": True})] = ""
    env: Annotated[tuple[str, ...], Meta(description="NAME=value for its environment; may be repeated.")] = ()
    name: Annotated[str, Meta(description="The new window's name.", max_length=200)] = ""
    account: Annotated[
        str, Meta(description="The account under which it starts, by name or `service/name`.", max_length=200)
    ] = ""


class Spawn(Starting, frozen=True, kw_only=True):
    """What to start, and where."""

    command: Command = ()
    where: Annotated[Literal["session", "window", "pane"], Meta(description="What is made for it.")] = "window"
    session: Annotated[
        str, Meta(description="A new session's name; or the session in which the window opens.", max_length=200)
    ] = ""
    beside: Annotated[
        str | None, Meta(description="The pane that is split, or by whose session.", extra={"names": "pane"})
    ] = None
    horizontal: Annotated[bool, Meta(description="Split side by side.")] = False
    server: Annotated[str, Meta(description="The socket of the tmux server, where there are several.")] = ""


class Spawned(Deed, frozen=True, kw_only=True):
    """``pane`` is the pane beside which it was made; ``new`` is the new one once it was seen."""

    new: PaneIdentity | None = None
    mux_pane: str = ""
    pid: int = 0


async def wish(world: ActingWorld, wanted: Spawn) -> Wish:
    beside = None if wanted.beside is None else await named(world, wanted.beside)
    if wanted.where == "pane" and beside is None:
        raise BadRequest("a new pane needs --beside", hint="`visor split <pane>` is shorter.")
    action = Action(
        where=wanted.where,
        server=wanted.server,
        session=wanted.session,
        beside=None if beside is None else beside.id,
        is_horizontal=wanted.horizontal,
        command=wanted.command,
        cwd=wanted.cwd,
        env=environment(wanted.env),
        name=wanted.name,
        account=await account_of(world, wanted.account, wanted.command),
    )
    return Wish(action=action, terms=terms_of(wanted), pane=beside)


async def account_of(world: ActingWorld, named: str, command: tuple[str, ...]) -> str:
    """Its whole name. Raises ``NotFound``."""
    if named and not command:
        raise BadRequest("--account needs a command that starts under it")
    return (await standing(world, named)).account.ref if named else ""


def environment(pairs: tuple[str, ...]) -> dict[str, str]:
    found = {}
    for pair in pairs:
        name, sign, value = pair.partition("=")
        if not (name and sign):
            raise BadRequest(f"--env: {name!r} is not NAME=value")
        found[name] = value
    return found


async def run(world: ActingWorld, wanted: Spawn) -> Spawned:
    return await started(world, wanted, await wish(world, wanted))


async def started(world: ActingWorld, wanted: Acting, wished: Wish) -> Spawned:
    with world.news.events() as events:
        deed, outcome = await carried_out(world, wanted, wished)
        if outcome is None:
            return grown(deed, Spawned)
        until = world.clock.monotonic() + (_SEEN_WITHIN if outcome.mux_pane else 0.0)
        while (new := await _seen(world, outcome)) is None and (left := until - world.clock.monotonic()) > 0:
            await first(world.clock, left, events)
    return grown(deed, Spawned, new=None if new is None else identity(new), mux_pane=outcome.mux_pane, pid=outcome.pid)


async def _seen(world: ActingWorld, outcome: Outcome) -> PaneView | None:
    views = await world.fleet.panes(gone=True)
    known = (outcome.mux_pane, outcome.pid)
    return next((view for view in reversed(views) if (view.facts.mux_id, view.facts.pid) == known), None)


def plain(spawned: Spawned, look: Look) -> str:
    new = f"pane {spawned.new.id}" if spawned.new else spawned.mux_pane
    return said(spawned, look, f"started in {new} (pid {spawned.pid})")


OP = Op(
    name="spawn",
    robot="spawn",
    summary="Start a program in a new session, window or pane.",
    doc="""The new place is made without switching anybody's window. `new.id` is the number by which `send`, `get-text`
and all others know it. The arguments are passed as they stand; no shell reads them. Without a command the user's shell
starts. `spawn` needs a tmux server that runs.""",
    Input=Spawn,
    Output=Spawned,
    run=run,
    plain=plain,
    wish=wish,
    effect="change",
    exits=((77, "Nothing was done: denied, or a person must allow it first."),),
    examples=(
        Example("spawn --session work -- claude", "an agent in a new window of the session `work`"),
        Example("spawn --where session --session ci --cwd . -- make watch", "a new session in this folder"),
        Example("spawn --account work -- codex", "an agent that works under another account"),
        Example("robot spawn --beside 7 --env PORT=8080 -- ./serve", "in a new window of pane 7's session, as JSON"),
    ),
)
