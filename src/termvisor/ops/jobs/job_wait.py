"""Operation `job_wait`: wait until a job has ended, or waits for input."""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.errors import BadRequest
from termvisor.model.job import JOB_STATES
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.jobs._job_item import (
    JobItem,
    JobReference,
    build_job_item,
    get_job_exit_status,
    render_job,
    resolve_job,
)
from termvisor.ops.jobs._job_wait import wait_for_job


class JobWaitArgs(Struct, frozen=True, kw_only=True):
    """The job, and the states to wait for."""

    job: JobReference
    state: Annotated[
        str, Meta(description="States to wait for, separated by commas; default: its end, or a prompt.")
    ] = "finished,lost,waiting_for_input"
    ended: Annotated[bool, Meta(description="Wait for its end only, also beyond prompts.")] = False
    timeout_secs: Annotated[float, Meta(description="Time out after this many seconds.", ge=0, le=31_536_000)] = 600.0


async def run(services: Services, args: JobWaitArgs) -> JobItem:
    states = ["finished", "lost"] if args.ended else [state.strip() for state in args.state.split(",")]
    if unknown := [state for state in states if state not in JOB_STATES]:
        raise BadRequest(f"{unknown[0]!r} is no state of a job", hint=f"States: {', '.join(JOB_STATES)}.")
    job = await resolve_job(services, args.job)
    job = await wait_for_job(services, job, states, args.timeout_secs)
    return build_job_item(job, services.clock.now())


OP = Operation(
    name="job_wait",
    summary="Wait until a job has ended, or waits for input.",
    doc="""Returns at once if it is so already. A job whose class allows retries is followed to its last attempt. The
exit status is that of the command.""",
    run=run,
    render_text=render_job,
    get_exit_status=get_job_exit_status,
    exit_statuses=(
        (0, "The command succeeded, or the job waits for input; otherwise the command's own status."),
        (6, "Lost: its end is unknown."),
        (124, "Timed out, or it ended in another state."),
    ),
    examples=(
        OperationExample("job wait 12", "until it has ended or asks for something"),
        OperationExample("job wait build --ended --timeout-secs 3600", "until the newest `build` has ended"),
        OperationExample("robot job wait 12 --state waiting_for_input", "until it asks for input, as JSON"),
    ),
)
