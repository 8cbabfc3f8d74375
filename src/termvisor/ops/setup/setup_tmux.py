"""The op `setup_tmux`: what to put into tmux's own configuration, and why. It changes nothing."""

from collections.abc import Sequence

from msgspec import Struct

from termvisor.diagnostics.checks.history_limit import ENOUGH
from termvisor.errors import Unavailable
from termvisor.model.health import ServerHealth
from termvisor.model.terminal.pane import PaneView
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.api.services import World
from termvisor.ops.render.text import Look, clean, counted


class SetupTmux(Struct, frozen=True, kw_only=True):
    """Nothing to choose."""


class Advice(Struct, frozen=True, kw_only=True):
    """One line for tmux.conf. ``now`` is what was found; ``is_followed`` is None where nobody could look."""

    line: str
    why: str
    now: str = ""
    is_followed: bool | None = None


class TmuxAdvice(Struct, frozen=True, kw_only=True):
    """``is_seen`` is false where no daemon could say how the servers are set up."""

    is_seen: bool
    items: tuple[Advice, ...]


async def run(world: World, _wanted: SetupTmux) -> TmuxAdvice:
    try:
        panes, servers = await world.fleet.panes(), (await world.upkeep.health()).servers
    except Unavailable:
        return TmuxAdvice(is_seen=False, items=(_history(()),))
    items = [_history(panes), _sessions(panes), _clients(servers)]
    return TmuxAdvice(is_seen=True, items=tuple(item for item in items if item is not None))


def _history(panes: Sequence[PaneView]) -> Advice:
    limits = [pane.facts.history_limit for pane in panes if pane.facts.history_limit]
    short = [limit for limit in limits if limit < ENOUGH]
    few = f"{len(short)} of {counted(len(limits), 'pane')} keep fewer, the shortest {min(short):,}" if short else ""
    return Advice(
        line=f"set -g history-limit {ENOUGH}",
        why="What a pane printed while nobody listened is taken over from its scrollback, as far back as that goes."
        " Holds for new panes.",
        now=few or (f"all {counted(len(limits), 'pane')} keep as many" if limits else ""),
        is_followed=not short if limits else None,
    )


def _sessions(panes: Sequence[PaneView]) -> Advice | None:
    names = sorted({pane.facts.session_name for pane in panes if pane.facts.session_ends_unattached})
    if not names:
        return None
    return Advice(
        line="set -g destroy-unattached off",
        why="A pane whose output somebody else already pipes is heard by attaching to its session; where the session"
        " ends with its last client, that must not be done and the pane is not heard.",
        now=f"on in {', '.join(names)}",
        is_followed=False,
    )


def _clients(servers: Sequence[ServerHealth]) -> Advice | None:
    sockets = [server.socket for server in servers if server.client == "plain"]
    if not sockets:
        return None
    return Advice(
        line="set -s exit-unattached off",
        why="Where the server ends with its last client, we must not be one: changes are then found by asking again"
        " and again, at about three times the cost.",
        now=f"no client may stay on {', '.join(sockets)}",
        is_followed=False,
    )


def plain(told: TmuxAdvice, look: Look) -> str:
    lines = [] if look.is_quiet else ["# For ~/.tmux.conf. Nothing was changed."]
    if not told.is_seen and not look.is_quiet:
        lines.append("# No daemon runs, so this is general; `visor up` starts one that looks at your servers.")
    for item in told.items:
        lines += ["", *_explained(item), item.line] if not look.is_quiet else [item.line]
    if not look.is_quiet:
        lines += ["", "# Nothing else is needed: output is heard before it is interpreted, so allow-passthrough,"]
        lines += ["# focus-events and the like make no difference to Termvisor."]
    return "\n".join(lines)


def _explained(item: Advice) -> list[str]:
    verdict = {True: "Now: as it should be: ", False: "Now: ", None: ""}[item.is_followed]
    return [f"# {item.why}", *([f"# {verdict}{clean(item.now)}."] if item.now else [])]


OP = Op(
    name="setup_tmux",
    summary="Say what to put into tmux's configuration, and why.",
    doc="""Only prints: nothing is changed. With a daemon it looks at the settings of the servers that run, and says
which panes and sessions are meant. Works without one too, with general advice.""",
    Input=SetupTmux,
    Output=TmuxAdvice,
    run=run,
    plain=plain,
    works_alone=True,
    examples=(
        Example("setup tmux", "what would help, and why"),
        Example("setup tmux -q", "only the lines, as for tmux.conf"),
    ),
)
