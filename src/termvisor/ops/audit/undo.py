"""The op `undo`: take an action back, where that can be done and all is still as it left it."""

from typing import Annotated

from msgspec import Meta, structs

from termvisor.errors import NoInverse, Unconfirmed
from termvisor.model.action.action import Action, pane_of, risk_of
from termvisor.model.action.undo import Inverse
from termvisor.ops.api.gate_service import ActingWorld
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.input._act import Deed, Wish, carried_out, foretold, foretold_lines, grown, said
from termvisor.ops.input._preconditions import Acting, terms_of
from termvisor.ops.render.action_text import action_in_words
from termvisor.ops.render.text import Look, clean


class Undo(Acting, frozen=True, kw_only=True):
    """Which action."""

    which: Annotated[
        str,
        Meta(
            description="Its `correlation`, or `last`: your own last one.", extra={"positional": "one"}, max_length=64
        ),
    ] = "last"


class Undone(Deed, frozen=True, kw_only=True):
    """``undoes`` is the correlation of the action that is taken back, ``what`` is done for it."""

    undoes: str
    what: str


async def wish(world: ActingWorld, wanted: Undo) -> Wish:
    return (await _wished(world, wanted))[0]


async def _wished(world: ActingWorld, wanted: Undo) -> tuple[Wish, Inverse]:
    panes = await world.fleet.panes(gone=True)
    inverse = await world.door.ledger.inverse(wanted.which, panes)
    pane = next((view for view in panes if view.id == pane_of(inverse.action)), None)
    terms = structs.replace(terms_of(wanted), undoes=inverse.undoes)
    return Wish(action=inverse.action, terms=terms, pane=pane), inverse


async def run(world: ActingWorld, wanted: Undo) -> Undone:
    wished, inverse = await _wished(world, wanted)
    has_consent = wanted.yes or wanted.yes_for_session or wanted.dry_run
    if risk_of(wished.action) == "destructive" and not has_consent:
        shown = foretold_lines(await foretold(world, wished), Look(), is_brief=True)
        raise Unconfirmed(f"undo {inverse.undoes.correlation}: {_what(wished.action)}?", shown="\n".join(shown))
    deed, _ = await carried_out(world, wanted, wished)
    return grown(deed, Undone, undoes=inverse.undoes.correlation, what=_what(wished.action))


def _what(action: Action) -> str:
    pane = pane_of(action)
    return action_in_words(action) if pane is None else f"{action_in_words(action)} (pane {pane})"


def plain(undone: Undone, look: Look) -> str:
    words = "undone" if undone.status == "done" else "it cannot be said whether it is undone"
    return said(undone, look, clean(f"{words}: {undone.what}"))


def exit_status(undone: Undone) -> int:
    return 6 if undone.status == "unknown" else 0


OP = Op(
    name="undo",
    robot="undo",
    summary="Take back what was done, where that can be proven to be safe.",
    doc=f"""Without a word it is your own last action that was not undone yet; `visor audit` shows the `correlation` of
every other. What takes it back is an action like any other: judged, asked about where the policy says so, recorded
(its entries name in `undoes` what they take back) and verified.

`set-title` gets the former title back, `activate` the pane that was in front of the session before; `spawn` and
`split` close the pane that they made, which asks as `kill --close` does; `reserve` is released. A text that stands in
a shell's input unsubmitted is cleared. Everything else has no inverse (`{NoInverse.code}`): what a program took, what
keys did, what has ended.

Nothing is done where something else stands there by now: another title, another pane in front, another program in the
pane, a shell in which something runs, an input that somebody changed, or an action that was undone already.""",
    Input=Undo,
    Output=Undone,
    run=run,
    plain=plain,
    wish=wish,
    effect="change",
    exit_status=exit_status,
    exits=(
        (2, "It has no inverse, or it would close a pane and was not confirmed: nothing was done."),
        (6, "It cannot be proven whether it is undone."),
        (75, "Nothing was done: it is no longer as it was left, or it was undone already."),
        (77, "Nothing was done: denied, or a person must allow it first."),
    ),
    examples=(
        Example("undo", "your own last action"),
        Example("undo 5f1c0a9be2d47713 --dry-run", "what would be done, and whether it would be let through"),
        Example("robot undo last --yes", "also where it closes a pane, as JSON"),
    ),
)
