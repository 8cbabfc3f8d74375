"""Operation `job_harvest`: read the output of a job from a byte cursor on."""

from collections.abc import AsyncGenerator
from typing import Annotated

from msgspec import Meta, Struct

from termvisor.errors import BadRequest
from termvisor.model.action.action import Action, ExportUnredacted
from termvisor.ops.api.envelope import encode_json_line
from termvisor.ops.api.operation import PROGRAM_FACES, Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.jobs._harvest import PAGE_BYTES, HarvestPage, HarvestReader, OutputMode
from termvisor.ops.jobs._job_item import JobReference, resolve_job
from termvisor.ops.render.text import RenderOptions, sanitize, sanitize_lines
from termvisor.redaction import redact


class JobHarvestArgs(Struct, frozen=True, kw_only=True):
    """The job, where to begin, and the form."""

    job: JobReference
    cursor: Annotated[
        Annotated[int, Meta(ge=0)] | None,
        # A model reads on with `new`: its tools have a cursor of their own, into one long answer.
        Meta(
            description="Begin at this byte; default: the first one.",
            extra={"also": ("--since",), "faces": PROGRAM_FACES},
        ),
    ] = None
    new: Annotated[bool, Meta(description="Begin where the last harvest of this job ended.")] = False
    limit: Annotated[
        int,
        Meta(
            description="Maximum number of lines, without --follow.",
            ge=1,
            le=100_000,
            extra={"form_doc": "Maximum number of lines."},
        ),
    ] = 10_000
    raw: Annotated[
        bool, Meta(description="Return the bytes, with their escape sequences.", extra={"faces": PROGRAM_FACES})
    ] = False
    follow: Annotated[bool, Meta(description="Print output as it arrives, until the job has ended.")] = False
    jsonl: Annotated[
        bool, Meta(description="Print each line as JSON: at, offset, text.", extra={"faces": PROGRAM_FACES})
    ] = False
    unredacted: Annotated[bool, Meta(description="With --raw: do not mask secrets (a program needs approval).")] = False


async def run(services: Services, args: JobHarvestArgs) -> HarvestPage:
    reader = await _open_reader(services, args)
    return await reader.read_page(PAGE_BYTES, args.limit)


async def follow(services: Services, args: JobHarvestArgs) -> AsyncGenerator[HarvestPage, None]:
    reader = await _open_reader(services, args)
    async for page in reader.follow():
        yield page


async def _open_reader(services: Services, args: JobHarvestArgs) -> HarvestReader:
    job = await resolve_job(services, args.job)
    cursor = job.cursor if args.new else args.cursor or 0
    if args.raw and args.jsonl:
        raise BadRequest("--raw and --jsonl exclude each other")
    mode: OutputMode = "raw" if args.raw else "jsonl" if args.jsonl else "lines"
    return HarvestReader(services, job, cursor, mode, is_unredacted=args.raw and args.unredacted)


def _list_changes(_services: Services, args: JobHarvestArgs) -> tuple[Action, ...]:
    return (ExportUnredacted(reference=f"job:{args.job}"),) if args.unredacted and args.raw else ()


def render_text(result: HarvestPage, options: RenderOptions) -> str | bytes:
    if result.data is not None:
        # A terminal would execute the escape sequences of the program.
        return sanitize_lines(result.data.decode("utf-8", "replace")).encode() if options.is_terminal else result.data
    if result.mode == "jsonl":
        return b"".join(map(encode_json_line, result.lines))
    note = "[earlier output was deleted]\n" if result.is_incomplete and not options.is_quiet else ""
    # As bytes, because blank lines are part of the output.
    text = "".join(f"{sanitize(redact(line.text))}\n" for line in result.lines)
    pending = f"{sanitize(result.pending)}\n" if result.pending else ""
    return (note + text + pending).encode("utf-8", "replace")


OP = Operation(
    name="job_harvest",
    summary="Read the output of a job.",
    doc="""Returns lines without escape sequences, with secrets masked, also after the terminal is gone. The `cursor` of
a result continues where it ended; `--new` continues where the last harvest of the job ended. An
unfinished last line is in `pending` and not counted by the cursor. `has_more` says that more is stored; `is_over` that
the job has ended and nothing follows. `is_incomplete`: the bytes at the cursor were deleted by retention.

A page has at most one megabyte. `--follow` prints everything from the cursor on and waits for more until the job has
ended. `--raw` returns bytes: in JSON as base64, on the command line as they are. `--jsonl` prints one JSON object for
each line, with `at`, `offset` and `text`.""",
    run=run,
    follow=follow,
    shows_pane_text=True,
    render_text=render_text,
    is_verbatim=True,
    is_live=True,
    list_changes=_list_changes,
    examples=(
        OperationExample("job harvest 12", "all output so far"),
        OperationExample("job harvest build --follow", "print it as it arrives"),
        OperationExample("job harvest 12 --raw --follow > out.bin", "all bytes"),
        OperationExample("robot job harvest 12 --cursor 4096", "what follows a cursor, as JSON"),
        OperationExample("job harvest 12 --jsonl --new", "lines since the last harvest, one JSON object each"),
    ),
)
