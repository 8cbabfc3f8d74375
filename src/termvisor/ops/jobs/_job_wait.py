"""Wait until a job is in one of some states; it returns at once if it is so already."""

from collections.abc import Collection

from termvisor.bus import wait_for_update
from termvisor.errors import TimedOut
from termvisor.model.job import Job
from termvisor.ops.api.services import Services

# A missed update costs at most this much: the store is the truth, and updates only wake the wait.
_MAX_WAIT_S = 5.0


async def wait_for_job(
    services: Services, job: Job, states: Collection[str], timeout: float, *, follows_retries: bool = True
) -> Job:
    """Return the job, or its last attempt, once it is in one of the states. Raises TimedOut, also when it ended."""
    deadline = services.clock.monotonic() + timeout
    with services.jobs.subscribe() as updates:
        while True:
            job = await services.jobs.find(job.id)
            if follows_retries and job.is_over and (following := await services.jobs.find_retry(job)) is not None:
                job = following
                continue
            if job.state in states:
                return job
            left = deadline - services.clock.monotonic()
            # An ended job changes no more.
            if job.is_over or left <= 0:
                raise build_timeout(job, timeout)
            await wait_for_update(services.clock, min(left, _MAX_WAIT_S), updates)


def build_timeout(job: Job, timeout: float) -> TimedOut:
    ended = job.is_over
    text = (
        f"job {job.id} ended ({job.state}) first"
        if ended
        else f"timed out after {timeout:g} s: job {job.id} is {job.state}"
    )
    hint = f"`visor job status {job.id}` shows it, `visor job harvest {job.id}` its output."
    return TimedOut(text, hint=hint, details={"job": job.id, "state": job.state})
