"""The op `send_text`: type a text into a pane, press Enter once it was seen there, and say what came of it.

It may also wait for an answer. A text is typed at most once, whatever fails.
"""

from typing import Annotated, Literal

from msgspec import Meta, structs

from termvisor.errors import BadRequest, NotFound, TimedOut
from termvisor.model.action.action import SendText as Action
from termvisor.model.action.outcome import AgentChannel, Outcome
from termvisor.model.ids import PaneId
from termvisor.model.terminal.pane import PaneView
from termvisor.ops.api.gate_service import ActingServices
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.text_input import StdinFlag, TextFileOption
from termvisor.ops.input._action_args import PaneReference, PreconditionArgs, build_preconditions
from termvisor.ops.input._execute_action import (
    ActionRequest,
    ActionResult,
    execute_action,
    extend_result,
    render_action_result,
)
from termvisor.ops.panes._listing import resolve_pane
from termvisor.ops.panes._text_cursor import find_last_line_number, format_cursor
from termvisor.ops.panes.wait_for import WaitForArgs, WaitForResult, build_matcher
from termvisor.ops.panes.wait_for import run as wait
from termvisor.ops.render.text import RenderOptions, sanitize
from termvisor.redaction import redact

_LINES_PER_PAGE = 1000


class SendTextArgs(PreconditionArgs, frozen=True, kw_only=True):
    """What to type, where, and what must hold."""

    pane: PaneReference
    text: Annotated[
        str, Meta(description="The text; all further words. `-`: read it from stdin.", extra={"positional": "rest"})
    ] = ""
    stdin: StdinFlag = False
    file: TextFileOption = None
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


class SendTextResult(ActionResult, frozen=True, kw_only=True):
    """``status`` is `delivered` (the program took it), `typed_not_submitted` (it stands in the input), `unknown` (it
    cannot be proven; it is not tried again), or `foreseen`. ``key`` names the call; ``is_repeated``: it was used
    before, and this is what came of it then. ``would_type`` is what a dry run would type, as Python writes it.

    ``pattern_matched`` is null where nothing was waited for; ``wait_ended`` says how the waiting ended.
    """

    key: str = ""
    channel: AgentChannel | None = None
    """To an agent: `native` by its own server, `keys` typed into its composer. Null for a shell or another program."""
    bytes_sent: int = 0
    is_repeated: bool = False
    would_type: str | None = None
    cursor: str | None = None
    """Where what was printed since then begins."""
    pattern_matched: bool | None = None
    wait_ended: Literal["matched", "timeout", "pane_gone"] | None = None
    waited: WaitForResult | None = None


async def build_request(services: ActingServices, args: SendTextArgs) -> ActionRequest:
    return _build_pane_request(await resolve_pane(services, args.pane), args)


def _build_pane_request(pane: PaneView, args: SendTextArgs) -> ActionRequest:
    if not args.text:
        raise BadRequest("missing: <text>", hint="Give the text itself; on the command line also --stdin or --file.")
    action = Action(
        pane=pane.id,
        text=args.text,
        enter=not args.no_newline,
        into_screen=args.into_screen,
    )
    terms = structs.replace(build_preconditions(args), key=args.key, into="program" if args.program else "prompt")
    return ActionRequest(action=action, preconditions=terms, pane=pane)


async def run(services: ActingServices, args: SendTextArgs) -> SendTextResult:
    view = await resolve_pane(services, args.pane)
    pane, wished = view.id, _build_pane_request(view, args)
    waiting = _build_wait_args(pane, args)
    deed, outcome = await execute_action(services, args, wished)
    if outcome is None:
        end = "" if args.no_newline else "\r"
        return extend_result(deed, SendTextResult, would_type=repr(redact(args.text) + end))
    before = await find_last_line_number(services, pane) if outcome.lines is None else outcome.lines
    sent = extend_result(
        deed,
        SendTextResult,
        key=outcome.key,
        channel=outcome.channel,
        bytes_sent=outcome.bytes_sent,
        is_repeated=outcome.is_repeated,
        cursor=format_cursor(pane, before),
    )
    if waiting is None or outcome.status != "delivered":
        return sent
    return await _wait_for_answer(
        services, sent, waiting, await _find_echo_cursor(services, pane, before, args.text, outcome)
    )


def _build_wait_args(pane: PaneId, args: SendTextArgs) -> WaitForArgs | None:
    """What to wait for; a pattern that cannot be understood is told before anything is typed."""
    if args.wait_for is None:
        return None
    waiting = WaitForArgs(
        pane=str(pane), pattern=args.wait_for, regex=args.wait_for_regex, timeout_secs=args.timeout_secs
    )
    build_matcher(waiting)
    return waiting


async def _find_echo_cursor(
    services: ActingServices, pane: PaneId, last_line: int, text: str, outcome: Outcome
) -> str | None:
    """From where on an answer counts: behind the row that shows what was typed, where it is found."""
    if outcome.is_repeated:
        return None
    await services.panes.wait_until_stored(pane)
    first = text.strip().splitlines()[0] if text.strip() else text
    lines = await services.history.list_lines(pane, after=last_line, limit=_LINES_PER_PAGE)
    echo = next((line.number for line in lines if first in line.text), last_line)
    return format_cursor(pane, echo)


async def _wait_for_answer(
    services: ActingServices, result: SendTextResult, wait_args: WaitForArgs, since: str | None
) -> SendTextResult:
    try:
        waited = await wait(services, structs.replace(wait_args, since=since))
    except TimedOut:
        return structs.replace(result, pattern_matched=False, wait_ended="timeout")
    except NotFound:
        return structs.replace(result, pattern_matched=False, wait_ended="pane_gone")
    return structs.replace(result, pattern_matched=True, wait_ended="matched", waited=waited)


_WAIT_EXIT_STATUSES = {"timeout": 124, "pane_gone": 4}


def get_exit_status(result: SendTextResult) -> int:
    if result.status == "unknown":
        return 6
    if result.status == "typed_not_submitted" and result.why != "as_wanted":
        return 5
    return _WAIT_EXIT_STATUSES.get(result.wait_ended or "", 0)


_STATUS_LABELS = {
    "delivered": "delivered",
    "typed_not_submitted": "typed, not submitted",
    "unknown": "unknown whether it was taken",
}


def render_text(result: SendTextResult, options: RenderOptions) -> str:
    again = " (the same key again: nothing was typed now)" if result.is_repeated else ""
    lines = [render_action_result(result, options, _STATUS_LABELS.get(result.status, result.status) + again)]
    if result.would_type is not None:
        lines.append(f"it would type {sanitize(result.would_type)}")
    if result.waited is not None:
        found = result.waited.line.text if result.waited.line else result.waited.pending or result.waited.shown
        lines.append(sanitize(found or ""))
    elif result.wait_ended is not None:
        ends = {"timeout": "the text waited for did not come in time", "pane_gone": "the pane ended first"}
        lines.append(options.paint("yellow", ends[result.wait_ended]))
    return "\n".join(lines)


OP = Operation(
    name="send_text",
    aliases=("send",),
    robot_name="send",
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
    args_type=SendTextArgs,
    result_type=SendTextResult,
    run=run,
    render_text=render_text,
    build_request=build_request,
    effect="change",
    accepts_text_input=True,
    get_exit_status=get_exit_status,
    exit_statuses=(
        (0, "Delivered; with --no-newline: typed. With --wait-for: and the text came."),
        (4, "There is no such pane, or it ended before what was waited for."),
        (5, "Typed and not submitted: it stands in the input."),
        (6, "It cannot be proven whether it was taken."),
        (75, "Nothing was done: reserved, or the pane is not as expected."),
        (77, "Nothing was done: denied, or a person must allow it first."),
        (124, "Delivered, but what was waited for did not come in time."),
    ),
    examples=(
        OperationExample("send 7 make test", "type it at the shell's prompt and press Enter"),
        OperationExample("send 7 --wait-for passed --timeout-secs 300 make test", "and wait for the answer"),
        OperationExample(
            "robot send 7 --program --key fix-42 'fix the failing test'", "an instruction to the program there"
        ),
        OperationExample(
            "send 7 --program --file task.md", "the text of a file, to a program that takes several lines"
        ),
        OperationExample("send 7 --dry-run -- rm -rf build", "what would be said of it"),
    ),
)
