"""Find server sockets and probe them."""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager

from termvisor.backends.tmux.server_sockets import is_server_listening, list_candidate_sockets, list_configured_sockets
from termvisor.settings import Paths, Settings, get_tmux_socket_folder
from tests.unit.wait_until import wait_until

PLACES = Paths("/c", "/d", "/r")


@contextmanager
def listening(path: str) -> Iterator[str]:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        server.listen()
        yield path


def stale(path: str) -> str:
    with listening(path):
        return path


def test_socket_names_are_in_the_tmux_folder_and_paths_are_kept(folder):
    settings = Settings(tmux_sockets=("work", "/srv/shared", "work"))
    assert list_candidate_sockets(PLACES, settings, folder) == [f"{folder}/work", "/srv/shared", "/r/demo"]


def test_unset_means_the_default_one_and_all_that_are_found(folder):
    stale(f"{folder}/b")
    stale(f"{folder}/a")
    open(f"{folder}/notes.txt", "w").close()
    os.mkdir(f"{folder}/sub")
    os.symlink(f"{folder}/a", f"{folder}/link")
    assert list_candidate_sockets(PLACES, Settings(), folder) == [
        f"{folder}/{name}" for name in ("default", "a", "b")
    ] + ["/r/demo"]


def test_the_default_one_is_named_once(folder):
    stale(f"{folder}/default")
    assert list_candidate_sockets(PLACES, Settings(), folder) == [f"{folder}/default", "/r/demo"]


def test_none_named_leaves_the_demo(folder):
    stale(f"{folder}/a")
    assert list_candidate_sockets(PLACES, Settings(tmux_sockets=()), folder) == ["/r/demo"]


def test_a_folder_that_is_not_there_is_an_empty_one():
    assert list_candidate_sockets(PLACES, Settings(), "/no/such/folder") == ["/no/such/folder/default", "/r/demo"]


def test_the_socket_folder_defaults_to_the_users():
    assert list_candidate_sockets(PLACES, Settings(tmux_sockets=("x",)))[0] == f"{get_tmux_socket_folder()}/x"


def test_a_socket_with_a_server_is_listening(folder):
    with listening(f"{folder}/s") as path:
        assert is_server_listening(path)
    assert not is_server_listening(path)


async def test_a_real_server_answers_and_asking_does_not_start_one(tmux, folder):
    assert not is_server_listening(tmux.socket)
    assert not tmux.is_running
    tmux.start_session()
    assert is_server_listening(tmux.socket)
    tmux.kill_server()
    await wait_until(lambda: not is_server_listening(tmux.socket))


def test_files_folders_and_nothing_do_not_answer(folder):
    open(f"{folder}/file", "w").close()
    assert not any(
        is_server_listening(path) for path in (f"{folder}/file", folder, f"{folder}/nothing", f"{folder}/file/x")
    )


def test_a_socket_of_another_user_is_not_ours(folder, monkeypatch):
    with listening(f"{folder}/s") as path:
        monkeypatch.setattr(os, "getuid", lambda: os.stat(path).st_uid + 1)
        assert not is_server_listening(path)


def test_only_what_the_settings_name_is_missed_when_it_is_not_there(folder):
    stale(f"{folder}/a")
    assert list_configured_sockets(Settings(), folder) == []
    assert list_configured_sockets(Settings(tmux_sockets=("work", "/srv/x")), folder) == [f"{folder}/work", "/srv/x"]
