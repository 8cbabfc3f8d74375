"""The op `next`: the agent that needs a person most; with `--go` the way to it, through the one door."""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.errors import NoAgent
from termvisor.ops.agents import _pane_agents as crew
from termvisor.ops.agents._agent_row import NEEDS, AgentRow, painted, row, spoken, who
from termvisor.ops.agents.status import queue
from termvisor.ops.api.gate_service import ActingWorld
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.input._act import Wish
from termvisor.ops.input._preconditions import Acting
from termvisor.ops.panes import attach
from termvisor.ops.render.text import Look, age, clean


class Next(Acting, frozen=True, kw_only=True):
    """Among which agents, and whether to go there."""

    session: Annotated[str | None, Meta(description="Only in this session.")] = None
    agent: Annotated[str | None, Meta(description="Only this agent, for example claude_code.")] = None
    skip: Annotated[int, Meta(description="Pass over so many that come first.", ge=0)] = 0
    go: Annotated[bool, Meta(description="Look at it in this terminal, as `attach` does.")] = False


class NextUp(Struct, frozen=True, kw_only=True):
    """``found`` is null when nobody needs a person; ``waiting`` counts all that do. ``attached`` is there with
    `--go`.
    """

    found: AgentRow | None
    waiting: int
    attached: attach.Attached | None = None


async def run(world: ActingWorld, wanted: Next) -> NextUp:
    waiting = await _waiting(world, wanted)
    if len(waiting) <= wanted.skip:
        return NextUp(found=None, waiting=len(waiting))
    one = waiting[wanted.skip]
    found = row(one.pane, one.view, world.clock.now())
    attached = await attach.run(world, _way(wanted, one)) if wanted.go else None
    return NextUp(found=found, waiting=len(waiting), attached=attached)


async def wish(world: ActingWorld, wanted: Next) -> Wish:
    """What `--go` would do."""
    waiting = await _waiting(world, wanted)
    if len(waiting) <= wanted.skip:
        raise NoAgent("no agent needs a person", hint="`visor status` shows what they do.")
    return await attach.wish(world, _way(wanted, waiting[wanted.skip]))


async def _waiting(world: ActingWorld, wanted: Next) -> list[crew.Member]:
    chosen = crew.Chosen(session=wanted.session, agent=wanted.agent, needs_action=True)
    return queue(await crew.crew(world, crew.given(chosen)))


def _way(wanted: Next, one: crew.Member) -> attach.Attach:
    terms = {name: getattr(wanted, name) for name in Acting.__struct_fields__}
    return attach.Attach(pane=str(one.pane.id), **terms)


def plain(told: NextUp, look: Look) -> str:
    found = told.found
    if found is None:
        return "" if look.is_quiet else "Nobody needs you." if not told.waiting else "Nobody else needs you."
    if look.is_quiet:
        return str(found.identity.id)
    if told.attached is not None:
        return attach.plain(told.attached, look)
    return "\n".join(_lines(found, told.waiting, look))


def _lines(found: AgentRow, waiting: int, look: Look) -> list[str]:
    state = look.paint(painted(found), spoken(found.state, found.reason))
    needs = NEEDS[found.needs] if found.needs is not None else ""
    lines = [f"{clean(who(found))}: {state}"]
    lines.append(clean(f"It {needs}, for {age(found.state_age)}: {found.agent_title}"))
    more = f" {waiting - 1} more after it." if waiting > 1 else ""
    return [*lines, f"`visor next --go` goes there, `visor explain {found.identity.id}` says why.{more}"]


OP = Op(
    name="next",
    robot="next",
    summary="The agent that needs you most, and the way to it.",
    doc="""The most urgent one: a permission before a question, a login, an error; of one kind the one that waits
longest. With `--go` it is attached to like `visor attach`: judged, recorded, and a terminal that shows the same tmux
server already switches to it. With `-q` it prints only the number of the pane, and nothing when nobody waits.""",
    Input=Next,
    Output=NextUp,
    run=run,
    plain=plain,
    wish=wish,
    effect="change",
    examples=(
        Example("next", "who it is, and what it needs"),
        Example("next --go", "go there; C-b d comes back"),
        Example("robot next --skip 1", "the one after it, as JSON"),
    ),
)
