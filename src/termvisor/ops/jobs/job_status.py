"""Operation `job_status`: show how a job is doing, or how it ended."""

from msgspec import Struct

from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.jobs._job_item import JobItem, JobReference, build_job_item, render_job, resolve_job


class JobStatusArgs(Struct, frozen=True, kw_only=True):
    """The job."""

    job: JobReference


async def run(services: Services, args: JobStatusArgs) -> JobItem:
    return build_job_item(await resolve_job(services, args.job), services.clock.now())


OP = Operation(
    name="job_status",
    summary="Show how a job is doing, or how it ended.",
    doc="""`waiting_for_input` has its evidence: `reads_terminal` (the kernel shows that it reads its terminal),
`secret_prompt` (it reads a line that is not shown), `detector` (its last line matches a `--detect` pattern while it
polls its terminal) or `quiet` (a guess, only with `--quiet-after`). A job that proves none of these is `running`.

`lost` means that its end is unknown; `why` is `wrapper_killed`, `never_started`, `never_begun`,
`result_missing`, `rebooted`, or `detached` by request. A job that was ended by `job stop` or its timeout is `finished`,
with `why` `stopped` or `timeout`.""",
    run=run,
    render_text=render_job,
    examples=(
        OperationExample("job status 12", "one job"),
        OperationExample("robot job status build", "the newest job of this name, as JSON"),
    ),
)
