"""Operation `job_prune`: delete old ended jobs now, and remove what is left of dead ones."""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.model.action.action import Action, PruneData
from termvisor.model.job import JobPruneResult
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.render.text import RenderOptions, format_bytes, pluralize


class JobPruneArgs(Struct, frozen=True, kw_only=True):
    """What to keep; without options, what the settings say."""

    keep: Annotated[Annotated[int, Meta(ge=0)] | None, Meta(description="Keep at most this many ended jobs.")] = None
    dry_run: Annotated[bool, Meta(description="Say what would be deleted; delete nothing.")] = False


async def run(services: Services, args: JobPruneArgs) -> JobPruneResult:
    return await services.jobs.prune(keep=args.keep, is_dry_run=args.dry_run)


def _list_changes(_services: Services, args: JobPruneArgs) -> tuple[Action, ...]:
    return () if args.dry_run else (PruneData(),)


def render_text(result: JobPruneResult, _options: RenderOptions) -> str:
    freed = f", {format_bytes(result.freed_bytes)} of output" if result.freed_bytes else ""
    orphans = f"; {pluralize(result.orphans, 'orphan')} removed" if result.orphans else ""
    return f"{pluralize(result.jobs, 'job')} deleted{freed}{orphans}"


OP = Operation(
    name="job_prune",
    summary="Delete old ended jobs now, and remove what is left of dead ones.",
    doc="""Applies the settings `jobs.retention` (days), `jobs.keep` (number) and `jobs.bytes` (size of their output),
which the daemon also applies by itself. Jobs that have not ended are never deleted. Orphans are folders of jobs that
are not stored. Text in the pane's history has its own retention.""",
    run=run,
    render_text=render_text,
    effect="change",
    list_changes=_list_changes,
    examples=(
        OperationExample("job prune", "apply the retention settings now"),
        OperationExample("job prune --keep 100 --dry-run", "say what keeping a hundred jobs would delete"),
    ),
)
