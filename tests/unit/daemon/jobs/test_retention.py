from termvisor.daemon.jobs.retention import select_beyond_size, select_old
from termvisor.model.ids import JobId
from termvisor.model.job import Job


def build_jobs(count: int) -> list[Job]:
    return [Job(id=JobId(n), name="", command="", place="pty", state="finished", created_at=n) for n in range(count)]


def test_jobs_are_deleted_by_age_and_by_number() -> None:
    jobs = build_jobs(5)
    assert [job.id for job in select_old(jobs, before=2, keep=None)] == [0, 1]
    assert [job.id for job in select_old(jobs, before=0, keep=2)] == [0, 1, 2]
    assert [job.id for job in select_old(jobs, before=1, keep=4)] == [0]


def test_the_newest_output_that_fits_is_kept() -> None:
    jobs = build_jobs(4)
    assert [job.id for job in select_beyond_size(jobs, lambda _job: 10, 25)] == [0, 1]
    assert select_beyond_size(jobs, lambda _job: 10, 0) == []
