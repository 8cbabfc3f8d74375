"""Operation `job_send`: type a text, keys or a secret into a job that waits for input."""

from typing import Annotated

from msgspec import Meta

from termvisor.errors import BadRequest, StateConflict
from termvisor.model.action.action import SendJobInput, SendKeys
from termvisor.model.job import Job
from termvisor.ops.api import text_input
from termvisor.ops.api.operation import OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.input import _action_operation
from termvisor.ops.jobs._job_item import JobReference, resolve_job
from termvisor.ops.panes._pane_reference import resolve_pane
from termvisor.ops.render.text import RenderOptions


class JobSendArgs(_action_operation.ActionArgs, frozen=True, kw_only=True):
    """The job, and what to type."""

    job: JobReference
    text: Annotated[str, Meta(description="Text to type; `-` reads stdin.", extra={"positional": "rest"})] = ""
    stdin: text_input.StdinFlag = False
    file: text_input.TextFileOption = None
    secret: Annotated[
        bool,
        Meta(description="The text is a secret: from --file, stdin, or asked for without echo; never an argument."),
    ] = False
    keys: Annotated[bool, Meta(description="The text names keys: Up, C-c, Enter, a, …")] = False
    no_enter: Annotated[bool, Meta(description="Do not press Enter.", extra={"also": ("--no-newline",)})] = False
    force: Annotated[bool, Meta(description="Type although it is not proven to wait for input.")] = False


class JobSendResult(_action_operation.ActionResult, frozen=True, kw_only=True):
    """``status`` is `delivered` once the program has read what was typed."""

    job: int = 0
    bytes_sent: int = 0


async def build_request(services: Services, args: JobSendArgs) -> _action_operation.ActionRequest:
    if args.keys and (args.secret or not args.text):
        raise BadRequest(
            "--keys requires names of keys" if not args.secret else "--keys and --secret exclude each other"
        )
    if args.secret and not args.text:
        raise BadRequest("the secret is empty")
    job = await resolve_job(services, args.job)
    if job.pane is None or job.is_over:
        raise StateConflict(f"job {job.id} is {job.state}", hint="Only a running job takes input.")
    pane = await resolve_pane(services, str(job.pane))
    return _action_operation.ActionRequest(
        action=_build_action(services, args, job, pane.id),
        preconditions=_action_operation.build_preconditions(args),
        pane=pane,
    )


def _build_action(services: Services, args: JobSendArgs, job: Job, pane: int) -> SendJobInput | SendKeys:
    if args.keys:
        return SendKeys(pane=pane, keys=tuple(args.text.split()))  # type: ignore[arg-type]
    # Registered for redaction before anything can echo it, or log the action.
    secret = services.jobs.hold_secret(job, args.text) if args.secret else ""
    return SendJobInput(
        pane=pane,  # type: ignore[arg-type]
        job=job.id,
        text="" if secret else args.text,
        secret=secret,
        enter=not args.no_enter,
        is_forced=args.force,
    )


async def execute(services: Services, args: JobSendArgs, request: _action_operation.ActionRequest) -> JobSendResult:
    result, outcome = await _action_operation.execute_action(services, args, request)
    job = await resolve_job(services, args.job)
    services.jobs.note_input(job.id)
    sent = 0 if outcome is None else outcome.bytes_sent
    return _action_operation.extend_result(result, JobSendResult, job=job.id, bytes_sent=sent)


def render_text(result: JobSendResult, options: RenderOptions) -> str:
    texts = {"delivered": "delivered", "done": "keys sent", "typed_not_submitted": "typed, Enter was not pressed"}
    return _action_operation.render_action_result(result, options, texts.get(result.status, result.status))


OP = _action_operation.declare_action(
    name="job_send",
    summary="Type into a job that waits for input.",
    doc="""A text is typed only if the job waits for it: its program reads the terminal, or a detector recognized its
prompt; otherwise the error is `stale_snapshot` with `details.why` `not_waiting`. `--force` types all the same. Enter is
pressed only while the same program has the terminal. `--keys` presses keys at any time.

`--secret` reads the text from stdin or `--file`, or asks for it without echo. It is kept in memory only: it is in no
argument, tmux message, log, audit entry or database, and it is masked wherever the program prints it, also in the raw
log. It is typed only where the terminal does not echo, unless `--force` is given.""",
    args_type=JobSendArgs,
    build_request=build_request,
    execute=execute,
    result_type=JobSendResult,
    render_text=render_text,
    accepts_text_input=True,
    exit_statuses=(
        (0, "The program has read it."),
        (6, "Typed, but the program has not read it yet."),
        (75, "Not executed: the job does not wait for input, or a precondition failed."),
        (77, "Not executed: denied by the policy, or requires approval."),
    ),
    examples=(
        OperationExample("job send 12 yes", "answer a question"),
        OperationExample("job send 12 --secret", "type a password, asked for without echo"),
        OperationExample("job send 12 --secret --file ~/.token", "type the secret in a file"),
        OperationExample("job send 12 --keys Down Enter", "press keys"),
        OperationExample("robot job send 12 --no-enter -- -y", "type a text that begins with a dash"),
    ),
)
