"""Operation `job_stop`: end a job."""

from termvisor.model.action.action import StopJob
from termvisor.ops.api.operation import OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.input import _action_operation
from termvisor.ops.jobs._job_item import JobItem, JobReference, build_job_item, render_job, resolve_job
from termvisor.ops.render.text import RenderOptions


class JobStopArgs(_action_operation.ActionArgs, frozen=True, kw_only=True):
    """The job."""

    job: JobReference


class JobStopResult(_action_operation.ActionResult, frozen=True, kw_only=True):
    job: JobItem | None = None


async def build_request(services: Services, args: JobStopArgs) -> _action_operation.ActionRequest:
    job = await resolve_job(services, args.job)
    action = StopJob(job=job.id, pane=job.pane)
    return _action_operation.ActionRequest(action=action, preconditions=_action_operation.build_preconditions(args))


async def execute(services: Services, args: JobStopArgs, request: _action_operation.ActionRequest) -> JobStopResult:
    result, outcome = await _action_operation.execute_action(services, args, request)
    job = None if outcome is None else await resolve_job(services, args.job)
    item = None if job is None else build_job_item(job, services.clock.now())
    return _action_operation.extend_result(result, JobStopResult, job=item)


def render_text(result: JobStopResult, options: RenderOptions) -> str:
    if result.job is None:
        return _action_operation.render_action_result(result, options)
    return render_job(result.job, options)


OP = _action_operation.declare_action(
    name="job_stop",
    summary="End a job and all its processes.",
    doc="""Sends INT to the program in the foreground of the job's terminal, TERM after 2 seconds, KILL after 3 more; it
sends TERM and KILL to all other processes that the terminal started. Returns as soon as the job has ended. A job that
has ended already is left as it is.""",
    args_type=JobStopArgs,
    build_request=build_request,
    execute=execute,
    result_type=JobStopResult,
    render_text=render_text,
    exit_statuses=((77, "Not executed: denied by the policy, or requires approval."),),
    examples=(OperationExample("job stop 12", "end it"), OperationExample("robot job stop build", "by name, as JSON")),
)
