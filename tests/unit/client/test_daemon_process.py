"""Starting and stopping the daemon from outside: real processes in private folders."""

import os
import signal
import stat
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from termvisor.client.daemon_process import ensure_running, error_file, greet, is_running, stop
from termvisor.errors import NewerDatabase, Unavailable
from termvisor.settings import Places, prepare
from termvisor.system.polling import until
from termvisor.system.subprocesses import ask
from tests.unit.memory import command, env, private_places, reap, reaped


def test_a_daemon_is_started_once_and_then_found(folder: str) -> None:
    with reaped(private_places(folder)) as places:
        assert (greet(places), is_running(places)) == (None, False)
        first = ensure_running(places, command=command())
        again = ensure_running(places, command=["/nonexistent"])
        assert first == again
        assert is_running(places)
        assert stop(places) == first.pid
        assert (greet(places), is_running(places)) == (None, False)


def test_ten_callers_at_once_start_one_daemon(folder: str) -> None:
    script = (
        "import sys\nfrom termvisor.client.daemon_process import ensure_running\n"
        "from termvisor.settings import places\n"
        "print(ensure_running(places(), command=sys.argv[1:]).pid)"
    )
    with reaped(private_places(folder)) as places, ThreadPoolExecutor(10) as pool:
        argv = [sys.executable, "-c", script, *command()]
        runs = list(pool.map(lambda _: ask(argv, timeout=60.0, env=env(places)), range(10)))
        assert [status for status, _, _ in runs] == [0] * 10
        assert {int(out) for _, out, _ in runs} == {greet(places).pid}  # type: ignore[union-attr]


def test_a_daemon_that_cannot_start_says_why_in_its_own_error(folder: str) -> None:
    places = private_places(folder)
    with pytest.raises(NewerDatabase, match="the database is newer") as raised:
        ensure_running(places, command=command("broken"))
    assert raised.value.hint == "Upgrade."
    assert not is_running(places)
    reap()


def test_a_daemon_that_crashes_at_its_start_is_told_with_its_last_words(folder: str) -> None:
    places = private_places(folder)
    with pytest.raises(Unavailable, match="ZeroDivisionError: by accident") as raised:
        ensure_running(places, command=command("crash"))
    assert error_file(places) in raised.value.hint
    assert stat.S_IMODE(os.stat(error_file(places)).st_mode) == 0o600
    reap()


def test_a_folder_that_cannot_be_written_is_named(folder: str) -> None:
    places = private_places(folder)
    prepare(places)
    os.mkdir(error_file(places))
    with pytest.raises(Unavailable, match=r"daemon\.err cannot be written: Is a directory"):
        ensure_running(places, command=command())


def test_a_daemon_that_never_answers_is_given_up(folder: str) -> None:
    places = private_places(folder)
    with pytest.raises(Unavailable, match="did not answer within"):
        ensure_running(places, within=0.5, command=command("hang"))
    _kill_all_children()


def test_a_killed_daemon_leaves_a_socket_that_the_next_one_takes_over(folder: str) -> None:
    with reaped(private_places(folder)) as places:
        first = ensure_running(places, command=command())
        os.kill(first.pid, signal.SIGKILL)
        reap()
        assert os.path.exists(places.daemon_socket)
        assert not is_running(places)
        second = ensure_running(places, command=command())
        assert second.pid != first.pid


def test_a_daemon_that_is_stopped_by_a_signal_and_does_not_listen_is_killed(folder: str) -> None:
    with reaped(private_places(folder)) as places:
        hello = ensure_running(places, command=command())
        os.kill(hello.pid, signal.SIGSTOP)
        _make_deaf(places)
        assert stop(places, within=0.3) == hello.pid
        assert not is_running(places)


def test_stopping_nothing_is_no_error(folder: str) -> None:
    assert stop(private_places(folder)) is None


def test_a_relative_folder_reaches_the_daemon_as_the_same_one(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    with reaped(private_places(os.path.abspath("."))) as places:
        ensure_running(places, command=command())
        assert os.path.exists(f"{folder}/r/daemon")


def _make_deaf(places: Places) -> None:
    os.unlink(places.daemon_socket)


def _kill_all_children() -> None:
    from termvisor.client import daemon_process as start

    for child in start._started:
        child.kill()
    reap()
    assert until(lambda: not start._started, 5.0)
