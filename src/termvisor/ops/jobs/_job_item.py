"""Jobs in results: their fields, references and rows."""

from typing import Annotated, ClassVar

from msgspec import Meta, Struct

from termvisor.clock import NS
from termvisor.errors import BadRequest, ObjectNotFound
from termvisor.model.job import Job, JobFilter, JobPlace, JobState
from termvisor.ops.api.services import Services
from termvisor.ops.render.results import format_optional_timestamp
from termvisor.ops.render.text import RenderOptions, sanitize
from termvisor.redaction import redact

JobReference = Annotated[
    str, Meta(description="The job: its id, or its name for the newest of it.", extra={"positional": "one"})
]


class JobItem(Struct, frozen=True, kw_only=True):
    """``state`` is `starting`, `running`, `waiting_for_input` (``evidence`` says why, ``prompt`` what it asks),
    `finished` (``code``, or -1 with ``signal``) or `lost` (``why``).

    ``cursor`` is the end of the last harvest; ``output_bytes`` the length of the output, once it is known.
    """

    detail_fields: ClassVar[tuple[str, ...]] = (
        "mux_pane",
        "server",
        "pid",
        "cursor",
        "errno",
        "max_rss",
        "correlation",
    )

    id: int
    name: str
    command: str
    state: JobState
    evidence: str = ""
    prompt: str = ""
    code: int | None = None
    signal: int | None = None
    why: str = ""
    duration_secs: float | None = None
    cpu_secs: float | None = None
    place: JobPlace
    session: str = ""
    pane: int | None = None
    mux_pane: str = ""
    server: str = ""
    pid: int = 0
    started_at: str | None = None
    finished_at: str | None = None
    output_bytes: int | None = None
    cursor: int = 0
    errno: int = 0
    max_rss: int = 0
    attempt: int = 1
    retry_of: int | None = None
    correlation: str = ""


def build_job_item(job: Job, now: int) -> JobItem:
    until = job.finished_at or (None if job.is_over else now)
    seconds = None if job.started_at is None or until is None else round((until - job.started_at) / NS, 3)
    is_finished = job.state == "finished"
    return JobItem(
        id=job.id,
        name=redact(job.name),
        command=redact(job.command),
        state=job.state,
        evidence=job.evidence,
        prompt=redact(job.prompt),
        code=job.code,
        signal=job.signal,
        why=job.why,
        duration_secs=seconds,
        cpu_secs=round(job.user_s + job.system_s, 3) if is_finished else None,
        place=job.place,
        session=job.session,
        pane=job.pane,
        mux_pane=job.mux_pane,
        server=job.server,
        pid=job.pid,
        started_at=format_optional_timestamp(job.started_at),
        finished_at=format_optional_timestamp(job.finished_at),
        output_bytes=job.end_offset,
        cursor=job.cursor,
        errno=job.errno,
        max_rss=job.max_rss,
        attempt=job.attempt,
        retry_of=job.retry_of,
        correlation=job.correlation,
    )


async def resolve_job(services: Services, reference: str) -> Job:
    """Return the job with this id, or the newest with this name. Raises ObjectNotFound."""
    text = reference.strip().removeprefix("job:")
    if text.isascii() and text.isdecimal() and len(text) < 19:
        return await services.jobs.find(int(text))
    if not text:
        raise BadRequest("missing argument: <job>")
    if jobs := await services.jobs.list(JobFilter(name=text), 1):
        return jobs[-1]
    raise ObjectNotFound(f"there is no job {reference!r}", hint="`visor job list` shows the jobs.")


def format_state(item: JobItem) -> str:
    """Return the state in words: `finished, status 1`, `waiting for input (reads_terminal): Name?`."""
    if item.state == "finished":
        return f"killed by signal {item.signal}" if item.signal else f"finished, status {item.code}"
    if item.state == "waiting_for_input":
        prompt = f": {sanitize(item.prompt)}" if item.prompt else ""
        return f"waiting for input ({item.evidence}){prompt}"
    return f"lost ({item.why})" if item.state == "lost" else item.state


def choose_style(item: JobItem) -> str:
    if item.state == "finished":
        return "green" if item.code == 0 else "red"
    return {"waiting_for_input": "yellow", "lost": "red"}.get(item.state, "")


def render_job(item: JobItem, options: RenderOptions) -> str:
    line = f"job {item.id}: {options.paint(choose_style(item), format_state(item))}"
    if options.is_quiet:
        return line
    place = f"session {item.session}, " if item.session else ""
    pane = f"pane {item.pane}" if item.pane else "no pane"
    time = "" if item.duration_secs is None else f", {item.duration_secs:g} s"
    return f"{line}\n  {sanitize(item.command)}\n  {place}{pane}{time}"


def get_job_exit_status(item: JobItem) -> int:
    """Return the exit status of a job that has ended, as a shell gives it; 0 while it has not."""
    if item.state == "lost":
        return 6
    if item.state != "finished" or item.code is None:
        return 0
    return 128 + (item.signal or 0) if item.signal else item.code
