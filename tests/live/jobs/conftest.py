import pytest

from tests.live.jobs.job_scene import run_job_scene


@pytest.fixture(scope="module")
def jobs():
    with run_job_scene() as scene:
        yield scene


@pytest.fixture
def own_jobs():
    """A scene of one test, whose daemon may be killed."""
    with run_job_scene() as scene:
        yield scene
