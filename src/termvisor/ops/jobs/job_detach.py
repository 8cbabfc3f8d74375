"""Operation `job_detach`: stop tracking a job and leave its process running."""

from msgspec import Struct

from termvisor.errors import StateConflict
from termvisor.model.action.action import Action, UpdateRecords
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.jobs._job_item import JobItem, JobReference, build_job_item, render_job, resolve_job


class JobDetachArgs(Struct, frozen=True, kw_only=True):
    """The job."""

    job: JobReference


async def run(services: Services, args: JobDetachArgs) -> JobItem:
    job = await resolve_job(services, args.job)
    if job.is_over:
        raise StateConflict(f"job {job.id} is {job.state}", hint="Only a running job can be detached.")
    return build_job_item(await services.jobs.detach(job), services.clock.now())


def _list_changes(_services: Services, args: JobDetachArgs) -> tuple[Action, ...]:
    return (UpdateRecords(change="detach", name=f"job {args.job}"),)


OP = Operation(
    name="job_detach",
    summary="Stop tracking a job and leave its process running.",
    doc="""The job becomes `lost` with `why` `detached`; its terminal stays a pane like any other, and its output is
captured as before. How it ends is not recorded.""",
    run=run,
    render_text=render_job,
    effect="change",
    list_changes=_list_changes,
    examples=(OperationExample("job detach 12", "leave it to itself"),),
)
