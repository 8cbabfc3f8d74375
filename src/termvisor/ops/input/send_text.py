"""The op `send_text`: type a text into a pane, press Enter once it was seen there, and say what came of it.

It may also wait for an answer. A text is typed at most once, whatever fails.
"""

from typing import Annotated, Literal

from msgspec import Meta, structs

from termvisor.errors import BadRequest, NotFound, TimedOut
from termvisor.model.action.action import SendText as Action
from termvisor.model.action.outcome import Channel, Outcome
from termvisor.model.ids import PaneId
from termvisor.model.terminal.pane import PaneView
from termvisor.ops.api.gate_service import ActingWorld
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.api.text_input import FromFile, FromStdin
from termvisor.ops.input._act import Deed, Wish, carried_out, grown, said
from termvisor.ops.input._preconditions import Guarded, PaneReference, terms_of
from termvisor.ops.panes._listing import named
from termvisor.ops.panes._text_cursor import newest, write
from termvisor.ops.panes.wait_for import Waited, WaitFor, matcher
from termvisor.ops.panes.wait_for import run as wait
from termvisor.ops.render.text import Look, clean
from termvisor.redaction import redact

_PAGE = 1000


class SendText(Guarded, frozen=True, kw_only=True):
    """What to type, where, and what must hold."""

    pane: PaneReference
    text: Annotated[
        str, Meta(description="The text; all further words. `-`: read it from stdin.", extra={"positional": "rest"})
    ] = ""
    stdin: FromStdin = False
    file: FromFile = None
    no_newline: Annotated[bool, Meta(description="Type it and do not press Enter.")] = False
    key: Annotated[
        str, Meta(description="A name for this call; the same one again types nothing twice.", max_length=200)
    ] = ""
    program: Annotated[
        bool, Meta(description="It is for the program that reads there, not for a shell at its prompt.")
    ] = False
    into_screen: Annotated[bool, Meta(description="With --program: also for one that fills the screen.")] = False
    wait_for: Annotated[
        Annotated[str, Meta(min_length=1)] | None,
        Meta(description="Once it is delivered, wait until a line holds this text."),
    ] = None
    wait_for_regex: Annotated[bool, Meta(description="--wait-for is a regular expression (RE2 syntax).")] = False
    timeout_secs: Annotated[float, Meta(description="Wait so many seconds at most.", ge=0, le=604_800)] = 30.0


class Sent(Deed, frozen=True, kw_only=True):
    """``status`` is `delivered` (the program took it), `typed_not_submitted` (it stands in the input), `unknown` (it
    cannot be proven; it is not tried again), or `foreseen`. ``key`` names the call; ``is_repeated``: it was used
    before, and this is what came of it then. ``would_type`` is what a dry run would type, as Python writes it.

    ``pattern_matched`` is null where nothing was waited for; ``wait_ended`` says how the waiting ended.
    """

    key: str = ""
    channel: Channel | None = None
    """To an agent: `native` by its own server, `keys` typed into its composer. Null for a shell or another program."""
    bytes_sent: int = 0
    is_repeated: bool = False
    would_type: str | None = None
    cursor: str | None = None
    """Where what was printed since then begins."""
    pattern_matched: bool | None = None
    wait_ended: Literal["matched", "timeout", "pane_gone"] | None = None
    waited: Waited | None = None


async def wish(world: ActingWorld, wanted: SendText) -> Wish:
    return _wish(await named(world, wanted.pane), wanted)


def _wish(pane: PaneView, wanted: SendText) -> Wish:
    if not wanted.text:
        raise BadRequest("missing: <text>", hint="Give the text itself; on the command line also --stdin or --file.")
    action = Action(
        pane=pane.id,
        text=wanted.text,
        enter=not wanted.no_newline,
        into_screen=wanted.into_screen,
    )
    terms = structs.replace(terms_of(wanted), key=wanted.key, into="program" if wanted.program else "prompt")
    return Wish(action=action, terms=terms, pane=pane)


async def run(world: ActingWorld, wanted: SendText) -> Sent:
    view = await named(world, wanted.pane)
    pane, wished = view.id, _wish(view, wanted)
    waiting = _waiting(pane, wanted)
    deed, outcome = await carried_out(world, wanted, wished)
    if outcome is None:
        end = "" if wanted.no_newline else "\r"
        return grown(deed, Sent, would_type=repr(redact(wanted.text) + end))
    before = await newest(world, pane) if outcome.lines is None else outcome.lines
    sent = grown(
        deed,
        Sent,
        key=outcome.key,
        channel=outcome.channel,
        bytes_sent=outcome.bytes_sent,
        is_repeated=outcome.is_repeated,
        cursor=write(pane, before),
    )
    if waiting is None or outcome.status != "delivered":
        return sent
    return await _awaited(world, sent, waiting, await _since(world, pane, before, wanted.text, outcome))


def _waiting(pane: PaneId, wanted: SendText) -> WaitFor | None:
    """What to wait for; a pattern that cannot be understood is told before anything is typed."""
    if wanted.wait_for is None:
        return None
    waiting = WaitFor(
        pane=str(pane), pattern=wanted.wait_for, regex=wanted.wait_for_regex, timeout_secs=wanted.timeout_secs
    )
    matcher(waiting)
    return waiting


async def _since(world: ActingWorld, pane: PaneId, before: int, text: str, outcome: Outcome) -> str | None:
    """From where on an answer counts: behind the row that shows what was typed, where it is found."""
    if outcome.is_repeated:
        return None
    await world.fleet.settle(pane)
    first = text.strip().splitlines()[0] if text.strip() else text
    lines = await world.history.lines(pane, after=before, limit=_PAGE)
    echo = next((line.number for line in lines if first in line.text), before)
    return write(pane, echo)


async def _awaited(world: ActingWorld, sent: Sent, waiting: WaitFor, since: str | None) -> Sent:
    try:
        waited = await wait(world, structs.replace(waiting, since=since))
    except TimedOut:
        return structs.replace(sent, pattern_matched=False, wait_ended="timeout")
    except NotFound:
        return structs.replace(sent, pattern_matched=False, wait_ended="pane_gone")
    return structs.replace(sent, pattern_matched=True, wait_ended="matched", waited=waited)


_WAITS = {"timeout": 124, "pane_gone": 4}


def exit_status(sent: Sent) -> int:
    if sent.status == "unknown":
        return 6
    if sent.status == "typed_not_submitted" and sent.why != "as_wanted":
        return 5
    return _WAITS.get(sent.wait_ended or "", 0)


_WORDS = {
    "delivered": "delivered",
    "typed_not_submitted": "typed, not submitted",
    "unknown": "unknown whether it was taken",
}


def plain(sent: Sent, look: Look) -> str:
    again = " (the same key again: nothing was typed now)" if sent.is_repeated else ""
    lines = [said(sent, look, _WORDS.get(sent.status, sent.status) + again)]
    if sent.would_type is not None:
        lines.append(f"it would type {clean(sent.would_type)}")
    if sent.waited is not None:
        found = sent.waited.line.text if sent.waited.line else sent.waited.pending or sent.waited.shown
        lines.append(clean(found or ""))
    elif sent.wait_ended is not None:
        ends = {"timeout": "the text waited for did not come in time", "pane_gone": "the pane ended first"}
        lines.append(look.paint("yellow", ends[sent.wait_ended]))
    return "\n".join(lines)


OP = Op(
    name="send_text",
    aliases=("send",),
    robot="send",
    summary="Type a text into a pane, press Enter, and prove that it was taken.",
    doc="""Policy, then a person where one must be asked, then the record, then the deed. The text goes to a shell at
its prompt with nothing typed yet; `--program` sends it to whatever program reads there instead. Enter is pressed only
after the text was seen in that very program's input. Nothing is typed while somebody types there, in copy mode, into
another program than the one that was judged, or into the pane that the caller runs in; then the error is
`stale_snapshot`, `details.why` says which, and nothing was done.

Where an agent has the pane before it, the text is a prompt for that agent, and `--program` need not be said: by its own
server where it has one and rests (`channel` is `native`), else typed, and only into an empty composer of a screen that
we know. `details.why` is `dialog_open`, `composer_not_empty` or `unknown_screen` where that is not so.

`status` says what is proven: `delivered`, `typed_not_submitted` (look, then decide) or `unknown` (never send it again
blindly). With `--key` a repeated call gives the first one's answer and types nothing.

`--wait-for` then waits for a line that was printed after the row that shows the text itself. `pattern_matched` says
whether it came. Words that begin with - stand after `--`.

`--file`, `--stdin` and a text of just `-` take the text from your side: UTF-8, no NUL, up to 1 MB (1,048,576 bytes);
the one newline at its end is dropped. Several lines go only to a program that asked for bracketed paste.

A person at a terminal who must be asked answers there: once, for the session, edit the text, or no.""",
    Input=SendText,
    Output=Sent,
    run=run,
    plain=plain,
    wish=wish,
    effect="change",
    takes_text=True,
    exit_status=exit_status,
    exits=(
        (0, "Delivered; with --no-newline: typed. With --wait-for: and the text came."),
        (4, "There is no such pane, or it ended before what was waited for."),
        (5, "Typed and not submitted: it stands in the input."),
        (6, "It cannot be proven whether it was taken."),
        (75, "Nothing was done: reserved, or the pane is not as expected."),
        (77, "Nothing was done: denied, or a person must allow it first."),
        (124, "Delivered, but what was waited for did not come in time."),
    ),
    examples=(
        Example("send 7 make test", "type it at the shell's prompt and press Enter"),
        Example("send 7 --wait-for passed --timeout-secs 300 make test", "and wait for the answer"),
        Example("robot send 7 --program --key fix-42 'fix the failing test'", "an instruction to the program there"),
        Example("send 7 --program --file task.md", "the text of a file, to a program that takes several lines"),
        Example("send 7 --dry-run -- rm -rf build", "what would be said of it"),
    ),
)
