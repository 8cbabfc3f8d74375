"""Operation `job_attach`: show a job's terminal in this one."""

from termvisor.errors import StateConflict
from termvisor.model.action.action import Attach
from termvisor.ops.api.operation import OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.input import _action_operation
from termvisor.ops.jobs._job_item import JobReference, resolve_job
from termvisor.ops.panes import attach
from termvisor.ops.panes._pane_reference import resolve_pane


class JobAttachArgs(_action_operation.PreconditionArgs, frozen=True, kw_only=True):
    """The job, and preconditions."""

    job: JobReference


async def build_request(services: Services, args: JobAttachArgs) -> _action_operation.ActionRequest:
    job = await resolve_job(services, args.job)
    if job.pane is None or (job.is_over and not job.is_interactive):
        raise StateConflict(f"job {job.id} is {job.state}", hint=f"`visor job harvest {job.id}` shows its output.")
    pane = await resolve_pane(services, str(job.pane))
    preconditions = _action_operation.build_preconditions(args)
    return _action_operation.ActionRequest(action=Attach(pane=pane.id), preconditions=preconditions, pane=pane)


OP = _action_operation.declare_action(
    name="job_attach",
    summary="Attach this terminal to the terminal of a job.",
    doc="""Like `visor attach` with the job's pane. Detaching leaves the job running.""",
    args_type=JobAttachArgs,
    build_request=build_request,
    execute=attach.execute,
    result_type=attach.AttachResult,
    render_text=attach.render_text,
    examples=(
        OperationExample("job attach 12", "watch it and type into it"),
        OperationExample("job attach 12 --json", "print the commands as JSON"),
    ),
)
