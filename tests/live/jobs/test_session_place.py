"""Jobs in a named session of the user's server, where nothing that is shown may change."""

import pytest

from tests.live.polling import wait_until

FORMAT = "#{window_index} #{window_name} #{window_active} #{window_activity_flag} #{window_bell_flag}"


@pytest.fixture(scope="module")
def user_session(jobs):
    jobs.tmux.start_session("work", "sh")
    jobs.tmux.open_window("work", "sh")
    jobs.tmux("set-option", "-t", "=work:", "monitor-activity", "on")
    jobs.tmux("set-option", "-g", "monitor-bell", "on")
    wait_until(lambda: jobs.call("state")["items"])
    return jobs


def list_windows(jobs, session: str = "work") -> list[str]:
    return jobs.tmux("list-windows", "-t", f"={session}:", "-F", FORMAT).splitlines()


def test_a_window_is_appended_and_disturbs_nothing(user_session):
    before = list_windows(user_session)
    job = user_session.run("--session", "work", "--", "sh", "-c", r"printf 'loud\a\n'")
    assert user_session.wait(job, "--ended")["code"] == 0
    after = list_windows(user_session)
    assert after[: len(before)] == before
    index = int(before[-1].split()[0]) + 1
    assert after[len(before) :] == [f"{index} auto:{job} 0 0 0"]


def test_a_shell_stays_unless_it_is_not_wanted(user_session):
    job = user_session.run("--session", "work", "--no-interactive", "--", "true")
    assert user_session.wait(job, "--ended")["code"] == 0
    wait_until(lambda: not any(f"auto:{job} " in row for row in list_windows(user_session)))


def test_a_missing_session_is_made(user_session):
    job = user_session.run("--session", "fresh", "--", "echo", "here")
    assert user_session.wait(job, "--ended")["code"] == 0
    assert user_session.harvest(job) == "here\n"
    assert len(list_windows(user_session, "fresh")) == 1
