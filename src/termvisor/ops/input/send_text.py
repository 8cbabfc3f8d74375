"""Operation `send_text`: type text into a pane, press Enter once it is visible, and verify the submission.

Optionally waits for output. Invariant: a text is typed at most once, whatever fails.
"""

from typing import Annotated, Literal

from msgspec import Meta, structs

from termvisor.errors import BadRequest, NotFound, TimedOut
from termvisor.model.action.action import SendText as Action
from termvisor.model.action.outcome import AgentChannel, Outcome
from termvisor.model.ids import PaneId
from termvisor.model.terminal.output import LinePosition
from termvisor.model.terminal.pane import PaneView
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.api.text_input import StdinFlag, TextFileOption
from termvisor.ops.input import _action_operation
from termvisor.ops.panes import wait_for
from termvisor.ops.panes._pane_reference import PaneReference, resolve_pane
from termvisor.ops.panes._text_cursor import find_last_line_number, format_cursor
from termvisor.ops.panes.wait_for import WaitForArgs, WaitForResult, build_matcher
from termvisor.ops.render.text import RenderOptions, sanitize
from termvisor.redaction import redact

# The echo is expected within the first lines after the text was typed.
_LINES_PER_PAGE = 1000


class SendTextArgs(_action_operation.PreconditionArgs, frozen=True, kw_only=True):
    """The pane, the text and preconditions."""

    pane: PaneReference
    text: Annotated[
        str,
        Meta(
            description="The text (all remaining words); `-` reads it from stdin.",
            extra={"positional": "rest", "form_doc": "The text."},
        ),
    ] = ""
    stdin: StdinFlag = False
    file: TextFileOption = None
    no_newline: Annotated[bool, Meta(description="Type it without pressing Enter.")] = False
    key: Annotated[str, Meta(description="Idempotency key: a repeat types nothing.", max_length=200)] = ""
    program: Annotated[bool, Meta(description="Send to the program that reads input, not to a prompt.")] = False
    into_screen: Annotated[bool, Meta(description="With --program: also to a full-screen program.")] = False
    at_prompt: Annotated[bool, Meta(description="You see an empty prompt; for shells without marks.")] = False
    wait_for: Annotated[
        Annotated[str, Meta(min_length=1)] | None,
        Meta(description="After delivery, wait until a line contains this text."),
    ] = None
    wait_for_regex: Annotated[bool, Meta(description="--wait-for is a regular expression (RE2 syntax).")] = False
    timeout_secs: Annotated[
        float, Meta(description="Maximum seconds to wait.", ge=0, le=604_800, extra={"also": ("--timeout",)})
    ] = 30.0


class SendTextResult(_action_operation.ActionResult, frozen=True, kw_only=True):
    """``status`` is `delivered` (accepted by the program), `queued` (shown in the queue of a working agent),
    `typed_not_submitted` (still in the input), `unknown` (could not be verified; not retried), or `foreseen` (dry run).
    ``is_repeated``: the ``key`` was used before, and this is the outcome of that call. ``would_type`` is the text of a
    dry run as a Python literal, null if it would not be typed.

    ``pattern_matched`` is null without `--wait-for`; ``wait_ended`` says how the wait ended.
    """

    key: str = ""
    channel: AgentChannel | None = None
    """To an agent: `native` through its own server, `keys` typed into its composer. Else null."""
    bytes_sent: int = 0
    is_repeated: bool = False
    would_type: str | None = None
    cursor: str | None = None
    """Output after this cursor was printed after the text was typed, and states after it began after it was sent."""
    pattern_matched: bool | None = None
    wait_ended: Literal["matched", "timeout", "pane_gone"] | None = None
    waited: WaitForResult | None = None


async def build_request(services: Services, args: SendTextArgs) -> _action_operation.ActionRequest:
    return _build_pane_request(await resolve_pane(services, args.pane), args)


def _build_pane_request(pane: PaneView, args: SendTextArgs) -> _action_operation.ActionRequest:
    if not args.text:
        raise BadRequest("missing argument: <text>", hint="Pass the text; on the command line also --stdin or --file.")
    if args.at_prompt and args.program:
        raise BadRequest(
            "--at-prompt and --program exclude each other",
            hint="--at-prompt is for a shell, --program for another program that reads input.",
        )
    action = Action(
        pane=pane.id,
        text=args.text,
        enter=not args.no_newline,
        into_screen=args.into_screen,
        at_prompt=args.at_prompt,
    )
    preconditions = structs.replace(
        _action_operation.build_preconditions(args), key=args.key, into="program" if args.program else "prompt"
    )
    return _action_operation.ActionRequest(action=action, preconditions=preconditions, pane=pane)


async def run(services: Services, args: SendTextArgs) -> SendTextResult:
    view = await resolve_pane(services, args.pane)
    pane, request = view.id, _build_pane_request(view, args)
    # Built before typing, so that an invalid pattern is an error before anything has happened.
    wait_args = _build_wait_args(pane, args)
    # Taken before typing: what the program rewrites from now on belongs to the answer.
    rewritten_at = services.history.find_position(pane, 0).rewritten_at
    result, outcome = await _action_operation.execute_action(services, args, request)
    if outcome is None:
        end = "" if args.no_newline else "\r"
        would_type = None if result.foreseen is None or result.foreseen.code else repr(redact(args.text) + end)
        return _action_operation.extend_result(result, SendTextResult, would_type=would_type)
    # The gate counted the lines before it typed; output since then belongs to the answer.
    before = await find_last_line_number(services, pane) if outcome.lines is None else outcome.lines
    sent = _action_operation.extend_result(
        result,
        SendTextResult,
        key=outcome.key,
        channel=outcome.channel,
        bytes_sent=outcome.bytes_sent,
        is_repeated=outcome.is_repeated,
        cursor=format_cursor(pane, LinePosition(before, rewritten_at), outcome.sent_at),
    )
    if wait_args is None or outcome.status not in ("delivered", "queued"):
        return sent
    return await _wait_for_answer(
        services, sent, wait_args, await _find_echo_cursor(services, pane, before, args.text, outcome)
    )


def _build_wait_args(pane: PaneId, args: SendTextArgs) -> WaitForArgs | None:
    """Return the arguments of the wait, or None if there is no wait. Raises BadRequest for an invalid pattern."""
    if args.wait_for is None:
        return None
    wait_args = WaitForArgs(
        pane=str(pane), pattern=args.wait_for, regex=args.wait_for_regex, timeout_secs=args.timeout_secs
    )
    build_matcher(wait_args)
    return wait_args


async def _find_echo_cursor(
    services: Services, pane: PaneId, last_line: int, text: str, outcome: Outcome
) -> str | None:
    """Return the cursor after which output counts as an answer: the line that echoes the text, if it is found."""
    # An earlier call typed the text, so its echo is somewhere above: the wait searches the past lines instead.
    if outcome.is_repeated:
        return None
    # The echo is found only after the pipeline has stored it.
    await services.panes.wait_until_stored(pane)
    first = text.strip().splitlines()[0] if text.strip() else text
    lines = await services.history.list_lines(pane, after=last_line, limit=_LINES_PER_PAGE)
    echo = next((line.number for line in lines if first in line.text), last_line)
    return format_cursor(pane, services.history.find_position(pane, echo))


async def _wait_for_answer(
    services: Services, result: SendTextResult, wait_args: WaitForArgs, since: str | None
) -> SendTextResult:
    try:
        waited = await wait_for.run(services, structs.replace(wait_args, since=since))
    # An error must not hide that the text was delivered, so the end of the wait is part of the result.
    except TimedOut:
        return structs.replace(result, pattern_matched=False, wait_ended="timeout")
    except NotFound:
        return structs.replace(result, pattern_matched=False, wait_ended="pane_gone")
    return structs.replace(result, pattern_matched=True, wait_ended="matched", waited=waited)


_WAIT_EXIT_STATUSES = {"timeout": 124, "pane_gone": 4}


def get_exit_status(result: SendTextResult) -> int:
    # `as_wanted`: the caller asked not to press Enter.
    if result.status == "typed_not_submitted" and result.why != "as_wanted":
        return 5
    return _WAIT_EXIT_STATUSES.get(result.wait_ended or "") or _action_operation.get_exit_status(result)


_STATUS_LABELS = {
    "delivered": "delivered",
    "queued": "queued",
    "typed_not_submitted": "typed, not submitted",
    "unknown": "could not verify whether it was submitted",
}


def render_text(result: SendTextResult, options: RenderOptions) -> str:
    note = " (repeated key: nothing was typed)" if result.is_repeated else ""
    lines = [
        _action_operation.render_action_result(result, options, _STATUS_LABELS.get(result.status, result.status) + note)
    ]
    if result.would_type is not None:
        lines.append(f"would type {sanitize(result.would_type)}")
    if result.waited is not None:
        match = result.waited.line.text if result.waited.line else result.waited.pending or result.waited.shown
        lines.append(sanitize(match or ""))
    elif result.wait_ended is not None:
        ends = {"timeout": "timed out waiting for the text", "pane_gone": "the pane closed first"}
        lines.append(options.paint("yellow", ends[result.wait_ended]))
    return "\n".join(lines)


OP = Operation(
    name="send_text",
    aliases=("send",),
    robot_name="send",
    summary="Type text into a pane, press Enter and verify that it was submitted.",
    doc="""Checks the policy, requests approval if required, writes the audit log, then types. The text goes to a shell
at its empty prompt; `--program` sends it to any other program that reads input. Enter is pressed only after the text
was seen in the input of that program. Nothing is typed while a user types there, in copy mode, into another program
than the one that was checked, or into the caller's own pane; the error is then `stale_snapshot` with the reason in
`details.why`.

The marks of `visor setup shell` prove a prompt. In a shell without them, a person who sees an empty prompt may say
`--at-prompt`: the text is typed if a shell reads the input and the row of the cursor ends like a prompt. For programs,
this requires approval.

If an agent is in the foreground, the text is a prompt for it, with or without `--program`. It is sent through the
agent's own server if it has one and is idle (`channel` is `native`), else typed, only into an empty composer on a known
screen. Otherwise `details.why` is `dialog_open`, `composer_not_empty` or `unknown_screen`. A working agent queues the
text; if it has no queue, `details.why` is `at_work`.

`status` says what was verified: `delivered`, `queued` (the agent shows it in its queue), `typed_not_submitted` (check
the pane before you continue) or `unknown` (do not resend without checking). With `--key`, a repeated call returns the
result of the first one and types nothing.

`cursor` marks this moment: `visor wait-for <pane> --state idle,completed --since <cursor>` waits for a state that began
after the text was sent, never for the one before.

`--wait-for` then waits for a line printed after the echo of the text; `pattern_matched` says whether it appeared. Put
words that begin with - after `--`.

`--file`, `--stdin` and `-` as text read the text on the client's side: UTF-8, no NUL, at most 1 MB (1,048,576 bytes);
the final newline is dropped. Text of several lines is sent only to programs that enabled bracketed paste.

If approval is required, a user at a terminal can approve once or for the session, edit the text, or deny.""",
    run=run,
    shows_pane_text=True,
    render_text=render_text,
    build_request=build_request,
    effect="change",
    accepts_text_input=True,
    get_exit_status=get_exit_status,
    exit_statuses=(
        (0, "Delivered or queued (typed, with --no-newline); with --wait-for also matched."),
        (4, "Pane not found, or it closed before the awaited text."),
        (5, "Typed but not submitted: the text is still in the input."),
        (6, "Could not verify whether the text was submitted."),
        (75, "Not executed: the pane is reserved, or a precondition failed."),
        (77, "Not executed: denied by the policy, or requires approval."),
        (124, "Delivered, but timed out waiting for the text."),
    ),
    examples=(
        OperationExample("send 7 make test", "run a command at the shell prompt"),
        OperationExample("send 7 --wait-for passed --timeout-secs 300 make test", "and wait for its output"),
        OperationExample(
            "robot send 7 --program --key fix-42 'fix the failing test'",
            "send a prompt to the program, with an idempotency key",
        ),
        OperationExample("send 7 --program --file task.md", "send the text of a file"),
        OperationExample("send 7 --at-prompt make test", "in a shell without marks, if you see its prompt"),
        OperationExample("send 7 --dry-run -- rm -rf build", "say what would happen, with the same exit status"),
    ),
)
