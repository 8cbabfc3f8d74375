"""Start and stop the daemon as a real process in private folders."""

import os
import signal
import stat
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from termvisor.client import daemon_process
from termvisor.client.daemon_process import ensure_running, fetch_hello, get_error_file, is_running, stop_daemon
from termvisor.errors import NewerDatabase, Unavailable
from termvisor.settings import Paths, make_instance_folders
from termvisor.system.retry import wait_until
from termvisor.system.subprocesses import run_and_capture
from tests.unit.fake_daemon import (
    build_daemon_command,
    build_environment,
    make_private_paths,
    reap_daemons,
    stop_daemon_at_exit,
)


def test_a_daemon_is_started_once_and_then_found(folder: str) -> None:
    with stop_daemon_at_exit(make_private_paths(folder)) as places:
        assert (fetch_hello(places), is_running(places)) == (None, False)
        first = ensure_running(places, command=build_daemon_command())
        again = ensure_running(places, command=["/nonexistent"])
        assert first == again
        assert is_running(places)
        assert stop_daemon(places) == first.pid
        assert (fetch_hello(places), is_running(places)) == (None, False)


def test_ten_callers_at_once_start_one_daemon(folder: str) -> None:
    script = (
        "import sys\nfrom termvisor.client.daemon_process import ensure_running\n"
        "from termvisor.settings import resolve_paths\n"
        "print(ensure_running(resolve_paths(), command=sys.argv[1:]).pid)"
    )
    with stop_daemon_at_exit(make_private_paths(folder)) as places, ThreadPoolExecutor(10) as pool:
        argv = [sys.executable, "-c", script, *build_daemon_command()]
        runs = list(pool.map(lambda _: run_and_capture(argv, timeout_s=60.0, env=build_environment(places)), range(10)))
        assert [status for status, _, _ in runs] == [0] * 10
        assert {int(out) for _, out, _ in runs} == {fetch_hello(places).pid}  # type: ignore[union-attr]


def test_a_daemon_that_cannot_start_says_why_in_its_own_error(folder: str) -> None:
    places = make_private_paths(folder)
    with pytest.raises(NewerDatabase, match="the database is newer") as raised:
        ensure_running(places, command=build_daemon_command("broken"))
    assert raised.value.hint == "Upgrade."
    assert not is_running(places)
    reap_daemons()


def test_a_crash_at_start_is_reported_with_the_last_line(folder: str) -> None:
    places = make_private_paths(folder)
    with pytest.raises(Unavailable, match="ZeroDivisionError: by accident") as raised:
        ensure_running(places, command=build_daemon_command("crash"))
    assert get_error_file(places) in raised.value.hint
    assert stat.S_IMODE(os.stat(get_error_file(places)).st_mode) == 0o600
    reap_daemons()


def test_a_folder_that_cannot_be_written_is_named(folder: str) -> None:
    places = make_private_paths(folder)
    make_instance_folders(places)
    os.mkdir(get_error_file(places))
    with pytest.raises(Unavailable, match=r"daemon\.err cannot be written: Is a directory"):
        ensure_running(places, command=build_daemon_command())


def test_a_daemon_that_never_answers_at_start_times_out(folder: str) -> None:
    places = make_private_paths(folder)
    with pytest.raises(Unavailable, match="neither answered nor did anything for"):
        ensure_running(places, timeout_s=0.5, command=build_daemon_command("hang"))
    _kill_all_children()


def test_a_daemon_that_works_before_it_answers_is_waited_for_with_a_progress_line(
    folder: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(daemon_process, "_FIRST_REPORT_S", 0.1)
    with stop_daemon_at_exit(make_private_paths(folder)) as places:
        # It works for longer than the time limit, which a slow machine only makes longer.
        ensure_running(places, timeout_s=0.7, command=build_daemon_command("slow"))
    assert capsys.readouterr().err.count("visor: the daemon is starting, ") == 1


def test_a_stale_socket_is_replaced_by_the_next_daemon(folder: str) -> None:
    with stop_daemon_at_exit(make_private_paths(folder)) as places:
        first = ensure_running(places, command=build_daemon_command())
        os.kill(first.pid, signal.SIGKILL)
        reap_daemons()
        assert os.path.exists(places.daemon_socket)
        assert not is_running(places)
        second = ensure_running(places, command=build_daemon_command())
        assert second.pid != first.pid


def test_a_suspended_daemon_is_killed_on_stop(folder: str) -> None:
    with stop_daemon_at_exit(make_private_paths(folder)) as places:
        hello = ensure_running(places, command=build_daemon_command())
        os.kill(hello.pid, signal.SIGSTOP)
        _stop_accepting(places)
        assert stop_daemon(places, timeout_s=0.3) == hello.pid
        assert not is_running(places)


def test_stopping_without_a_daemon_is_no_error(folder: str) -> None:
    assert stop_daemon(make_private_paths(folder)) is None


def test_a_relative_folder_is_the_same_for_the_daemon(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    with stop_daemon_at_exit(make_private_paths(os.path.abspath("."))) as places:
        ensure_running(places, command=build_daemon_command())
        assert os.path.exists(f"{folder}/r/daemon")


def _stop_accepting(places: Paths) -> None:
    os.unlink(places.daemon_socket)


def _kill_all_children() -> None:
    for child in daemon_process._started_daemons:
        child.kill()
    reap_daemons()
    assert wait_until(lambda: not daemon_process._started_daemons, 5.0)
