"""The op `kill`: a signal to what runs in the foreground of a pane, or the end of the whole pane."""

from typing import Annotated, Literal

from msgspec import Meta

from termvisor.errors import Unconfirmed
from termvisor.model.action.action import Kill as Action
from termvisor.ops.api.gate_service import ActingWorld
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.input._act import Deed, Wish, carried_out, foretold, foretold_lines, said
from termvisor.ops.input._preconditions import Guarded, PaneReference, terms_of
from termvisor.ops.panes._listing import named
from termvisor.ops.render.text import Look, clean


class Kill(Guarded, frozen=True, kw_only=True):
    """What to end, and how."""

    pane: PaneReference
    signal: Annotated[
        Literal["INT", "TERM", "KILL", "HUP", "QUIT"], Meta(description="The signal for the foreground program.")
    ] = "INT"
    close: Annotated[
        bool, Meta(description="Close the pane itself, with all that runs in it.", extra={"also": ("--pane",)})
    ] = False


async def wish(world: ActingWorld, wanted: Kill) -> Wish:
    pane = await named(world, wanted.pane)
    return Wish(
        action=Action(pane=pane.id, signal=wanted.signal, closes_pane=wanted.close), terms=terms_of(wanted), pane=pane
    )


async def run(world: ActingWorld, wanted: Kill) -> Deed:
    wished = await wish(world, wanted)
    if not (wanted.yes or wanted.dry_run):
        raise await _unconfirmed(world, wanted, wished)
    deed, _ = await carried_out(world, wanted, wished)
    return deed


async def _unconfirmed(world: ActingWorld, wanted: Kill, wished: Wish) -> Unconfirmed:
    pane = await named(world, wanted.pane)
    facts = pane.facts
    place = f"{facts.session_name}:{facts.window_index}.{facts.pane_index} {facts.title}".rstrip()
    shown = foretold_lines(await foretold(world, wished), Look(), is_brief=True)
    what = "close pane" if wanted.close else f"send SIG{wanted.signal} to pane"
    return Unconfirmed(clean(f"{what} {pane.id} ({place})?"), shown="\n".join(shown))


def plain(deed: Deed, look: Look) -> str:
    return said(deed, look, "done")


OP = Op(
    name="kill",
    robot="kill",
    summary="Interrupt or end what runs in a pane, or close the pane.",
    doc="""The signal goes to the process group in the foreground of the pane's terminal, never to the shell itself;
`--close` (or `--pane`) ends the pane with everything in it. On a terminal it shows what would happen and asks;
elsewhere it needs `--yes`. Policy is asked in any case.""",
    Input=Kill,
    Output=Deed,
    run=run,
    plain=plain,
    wish=wish,
    effect="change",
    exits=(
        (2, "Not confirmed: nothing was done."),
        (75, "Nothing was done: nothing runs in the foreground, or the pane is not as expected."),
        (77, "Nothing was done: denied, or a person must allow it first."),
    ),
    examples=(
        Example("kill 7", "interrupt the program in pane 7"),
        Example("kill 7 --signal TERM --yes", "end it without a question"),
        Example("robot kill 7 --pane --yes", "close the pane"),
    ),
)
