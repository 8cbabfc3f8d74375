"""Jobs from their start to their harvest, in a real terminal."""

import hashlib
import os
import sys
import time

import pytest

from tests.live.jobs.job_scene import PLACES
from tests.live.polling import wait_until

live = pytest.mark.live
at_places = pytest.mark.parametrize("place", PLACES)


def run_numbered(jobs, place: str, count: int) -> None:
    commands = [("--place", place, "--", "sh", "-c", f"printf %s out-{n}; exit {n % 100}") for n in range(count)]
    ids = jobs.run_each(commands)
    ended = [jobs.wait(job, "--ended") for job in ids]
    assert [one["code"] for one in ended] == [n % 100 for n in range(count)]
    assert [jobs.harvest_raw(job) for job in ids] == [f"out-{n}".encode() for n in range(count)]


@at_places
def test_codes_and_bytes_of_parallel_jobs_are_right(jobs, place):
    run_numbered(jobs, place, 24)


@live
@at_places
@pytest.mark.timeout(600)
def test_a_thousand_jobs_are_right(own_jobs, place, record_property):
    began = time.monotonic()
    run_numbered(own_jobs, place, 1000)
    record_property(f"jobs per second in the place {place}", f"{1000 / (time.monotonic() - began):.1f}")


@live
@at_places
@pytest.mark.timeout(600)
def test_two_hundred_megabytes_are_harvested_exactly(own_jobs, place):
    count = 200 << 20
    script = (
        "import subprocess, sys; subprocess.run(['stty', '-onlcr'])\n"
        f"for n in range({count // 16}): sys.stdout.buffer.write(b'%015d\\n' % n)"
    )
    job = own_jobs.run_python(script, "--place", place)
    assert own_jobs.wait(job, "--ended", timeout=400)["code"] == 0
    digest, cursor = hashlib.sha256(), 0
    path = f"{own_jobs.visor.paths.runtime_dir}/out"
    status = os.system(
        f"env {' '.join(f'{k}={v}' for k, v in own_jobs.visor.env.items() if k.startswith('VISOR_'))}"
        f" {sys.executable} -m termvisor job harvest {job} --raw --unredacted --follow > {path}"
    )
    assert status == 0
    with open(path, "rb") as file:
        while data := file.read(1 << 20):
            digest.update(data)
            cursor += len(data)
    expected = hashlib.sha256()
    for start in range(0, count // 16, 65536):
        expected.update(b"".join(b"%015d\n" % n for n in range(start, min(start + 65536, count // 16))))
    assert (cursor, digest.hexdigest()) == (count, expected.hexdigest())


@at_places
def test_a_question_is_answered_once_the_job_waits_for_it(jobs, place):
    job = jobs.run_python("print('hi', input('name? '))", "--place", place)
    waiting = jobs.wait(job)
    assert (waiting["state"], waiting["evidence"], waiting["prompt"]) == (
        "waiting_for_input",
        "reads_terminal",
        "name?",
    )
    assert jobs.send(job, "bob")["status"] == "delivered"
    assert jobs.wait(job, "--ended")["code"] == 0
    assert jobs.harvest(job) == "name? bob\nhi bob\n"


@at_places
def test_nothing_is_typed_into_a_job_that_works(jobs, place):
    job = jobs.run("--place", place, "--", "sleep", "1000")
    wait_until(lambda: jobs.status(job)["state"] == "running")
    assert jobs.send(job, "text")["error"]["details"]["why"] == "not_waiting"
    assert jobs.call("job", "stop", str(job))["job"]["signal"] == 2


@pytest.mark.parametrize("place", ["pty", pytest.param("tmux", marks=live)])
def test_a_job_that_ignores_signals_is_killed_with_its_children(jobs, place):
    script = "trap '' INT TERM; sh -c 'trap \"\" INT TERM; sleep 1000' & echo up; while :; do sleep 1000; done"
    job = jobs.run("--place", place, "--", "sh", "-c", script)
    wait_until(lambda: jobs.harvest(job) == "up\n")
    stopped = jobs.call("job", "stop", str(job))["job"]
    assert (stopped["state"], stopped["signal"], stopped["why"]) == ("finished", 9, "stopped")


@at_places
def test_a_timeout_goes_the_way_of_a_stop(jobs, place):
    job = jobs.run("--place", place, "--timeout", "0.5", "--", "sleep", "1000")
    ended = jobs.wait(job, "--ended")
    assert (ended["signal"], ended["why"]) == (2, "timeout")


@at_places
def test_every_argument_arrives_as_it_is(jobs, place):
    words = ("", " ", "'", '"', "#{pane_id}", "%%", ";", "-x", "$HOME", "a\nb", "\\", "é", "\udcff\udcfe")
    job = jobs.run("--place", place, "--", "printf", "%s|", *words)
    jobs.wait(job, "--ended")
    expected = b"".join(os.fsencode(word) + b"|" for word in words).replace(b"\n", b"\r\n")
    assert jobs.harvest_raw(job) == expected


@at_places
def test_a_failing_part_of_a_pipe_fails_a_shell_line(jobs, place):
    job = jobs.run("--place", place, "false | cat; exit $?")
    assert jobs.wait(job, "--ended")["code"] == 1


@at_places
def test_a_program_that_prints_our_marks_ends_nothing(jobs, place):
    fake = "\\033]7770;job;end;1;0;0;0123456789abcdef\\033\\\\"
    job = jobs.run("--place", place, "--", "printf", f"a{fake}b")
    assert jobs.wait(job, "--ended")["code"] == 0
    assert jobs.harvest_raw(job) == b"a" + fake.encode().decode("unicode_escape").encode() + b"b"
