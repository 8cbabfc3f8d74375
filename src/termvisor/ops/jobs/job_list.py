"""Operation `job_list`: list jobs, or summarize them by name."""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.clock import format_timestamp
from termvisor.errors import BadRequest
from termvisor.model.job import JOB_STATES, JobFilter, JobSummary
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.jobs._job_item import JobItem, build_job_item, choose_style, format_state
from termvisor.ops.render.results import (
    BaseListing,
    build_filters,
    count_values,
    format_empty_listing,
    parse_time_filter,
)
from termvisor.ops.render.table import TableColumn, render_table
from termvisor.ops.render.text import RenderOptions, pluralize, sanitize


class JobListArgs(Struct, frozen=True, kw_only=True):
    """Which jobs to list."""

    state: Annotated[str | None, Meta(description="Only these states, separated by commas.")] = None
    name: Annotated[str | None, Meta(description="Only jobs of this name.")] = None
    since: Annotated[str | None, Meta(description="Only jobs created since this time.")] = None
    limit: Annotated[int, Meta(description="Maximum number of jobs, newest first.", ge=1, le=10_000)] = 20
    summary: Annotated[bool, Meta(description="Show durations, success rate and prompts by name instead.")] = False


class JobsSummary(Struct, frozen=True, kw_only=True):
    """``groups`` are the figures by name, with --summary."""

    jobs: int
    by_state: dict[str, int]
    groups: tuple[JobSummary, ...] = ()


class JobListing(BaseListing, frozen=True, kw_only=True):
    """Jobs, oldest first."""

    summary: JobsSummary
    items: tuple[JobItem, ...]


async def run(services: Services, args: JobListArgs) -> JobListing:
    states = tuple(state.strip() for state in args.state.split(",")) if args.state else ()
    if unknown := [state for state in states if state not in JOB_STATES]:
        raise BadRequest(f"{unknown[0]!r} is no state of a job", hint=f"States: {', '.join(JOB_STATES)}.")
    now = services.clock.now()
    filters = JobFilter(states=states, name=args.name, since=parse_time_filter(args.since, now))
    items = (
        () if args.summary else tuple(build_job_item(job, now) for job in await services.jobs.list(filters, args.limit))
    )
    groups = await services.jobs.summarize(filters) if args.summary else ()
    return JobListing(
        generated_at=format_timestamp(now),
        filters=build_filters(state=args.state, name=args.name, since=args.since),
        summary=JobsSummary(
            jobs=sum(group.jobs for group in groups) if args.summary else len(items),
            by_state=count_values(item.state for item in items),
            groups=groups,
        ),
        items=items,
    )


def _format_rate(group: JobSummary) -> str:
    ended = group.succeeded + group.failed
    return f"{100 * group.succeeded / ended:.0f}%" if ended else "-"


def _format_seconds(seconds: float | None) -> str:
    return "-" if seconds is None else f"{seconds:g}"


_COLUMNS = (
    TableColumn("JOB", lambda item: str(item.id), is_right_aligned=True, style="cyan"),
    TableColumn("STATE", format_state, can_shrink=True, min_width=20, choose_style=choose_style),
    TableColumn("NAME", lambda item: sanitize(item.name) or "-", can_shrink=True, worth=3),
    TableColumn("PANE", lambda item: str(item.pane or "-"), is_right_aligned=True, worth=2),
    TableColumn("SECONDS", lambda item: "-" if item.duration_secs is None else f"{item.duration_secs:g}", worth=4),
    TableColumn("STARTED", lambda item: item.started_at or "-", kind="time", worth=2),
    TableColumn("COMMAND", lambda item: sanitize(item.command), can_shrink=True, min_width=16),
)
_SUMMARY_COLUMNS = (
    TableColumn("NAME", lambda group: sanitize(group.name), can_shrink=True, min_width=16, style="cyan"),
    TableColumn("JOBS", lambda group: str(group.jobs), is_right_aligned=True),
    TableColumn("RUNNING", lambda group: str(group.running), is_right_aligned=True, worth=3),
    TableColumn("OK", _format_rate, is_right_aligned=True),
    TableColumn("LOST", lambda group: str(group.lost), is_right_aligned=True, worth=2),
    TableColumn("MEDIAN S", lambda group: _format_seconds(group.median_s), is_right_aligned=True),
    TableColumn("LONGEST S", lambda group: _format_seconds(group.longest_s), is_right_aligned=True, worth=3),
    TableColumn("PROMPTS", lambda group: sanitize(" | ".join(group.prompts)) or "-", can_shrink=True, worth=1),
)


def render_text(result: JobListing, options: RenderOptions) -> str:
    if result.summary.groups:
        return render_table(_SUMMARY_COLUMNS, result.summary.groups, options)
    if not result.items:
        return format_empty_listing("job", result)
    rows = render_table(_COLUMNS, result.items, options)
    return rows if options.is_quiet else f"{rows}\n\n{pluralize(result.summary.jobs, 'job')}"


OP = Operation(
    name="job_list",
    aliases=("job", "jobs"),
    summary="List jobs, or summarize them by name.",
    doc="""The newest jobs, oldest first. `--summary` groups all jobs by name, or by command without one: how many ran,
how many succeeded, how long they took, and the prompts at which they waited most often.""",
    run=run,
    render_text=render_text,
    examples=(
        OperationExample("job list", "the last 20 jobs"),
        OperationExample("job list --state running,waiting_for_input", "jobs that have not ended"),
        OperationExample("job list --summary --since 7d", "success rates and durations of a week"),
        OperationExample("robot job list --name build", "all jobs of one name, as JSON"),
    ),
)
