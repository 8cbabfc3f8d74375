"""The op `attach`: allow and record that somebody looks at a pane in their own terminal, and say how they get there.

The caller's own terminal does it: `visor attach` on a terminal runs what this op answers.
"""

from termvisor.model.action.action import Attach as Action
from termvisor.ops.api.gate_service import ActingWorld
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.input._act import Deed, Wish, carried_out, foretold_lines, grown
from termvisor.ops.input._preconditions import Guarded, PaneReference, terms_of
from termvisor.ops.panes._listing import named
from termvisor.ops.render.text import Look, clean


class Attach(Guarded, frozen=True, kw_only=True):
    """Which pane, and what must hold."""

    pane: PaneReference


class Attached(Deed, frozen=True, kw_only=True):
    """``outside`` is the program to run in a terminal of its own, ``inside`` in one that shows the same tmux server."""

    socket: str = ""
    outside: tuple[str, ...] = ()
    inside: tuple[str, ...] = ()


async def wish(world: ActingWorld, wanted: Attach) -> Wish:
    pane = await named(world, wanted.pane)
    return Wish(action=Action(pane=pane.id), terms=terms_of(wanted), pane=pane)


async def run(world: ActingWorld, wanted: Attach) -> Attached:
    pane = await named(world, wanted.pane)
    deed, outcome = await carried_out(world, wanted, await wish(world, wanted))
    if outcome is None:
        return grown(deed, Attached)
    socket, tmux = pane.instance.server.socket, ("tmux", "-S", pane.instance.server.socket)
    target = f"{pane.facts.session_id}:{pane.facts.window_id}.{pane.facts.mux_id}"
    return grown(
        deed,
        Attached,
        socket=socket,
        outside=(*tmux, "attach-session", "-t", target),
        inside=(*tmux, "switch-client", "-t", target),
    )


def plain(attached: Attached, look: Look) -> str:
    if attached.foreseen is not None:
        return "\n".join(foretold_lines(attached.foreseen, look))
    return clean(" ".join(f"'{word}'" if "$" in word else word for word in attached.outside))


OP = Op(
    name="attach",
    summary="Look at a pane in this terminal, with tmux itself.",
    doc="""On a terminal it attaches to the pane's session, or switches to it when the terminal shows the same tmux
server already. Elsewhere, and with `--json`, it only says which program to run. It is judged and recorded like every
other action.""",
    Input=Attach,
    Output=Attached,
    run=run,
    plain=plain,
    wish=wish,
    effect="change",
    examples=(
        Example("attach 7", "go there; C-b d comes back"),
        Example("attach 7 --json", "how to get there"),
    ),
)
