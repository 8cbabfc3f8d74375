"""Find server sockets and probe them."""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager

from termvisor.backends.tmux.server_sockets import is_server_listening, list_candidate_sockets, list_configured_sockets
from termvisor.settings import Paths, Settings, get_tmux_socket_folder
from tests.unit.wait_until import wait_until

PATHS = Paths("/c", "/d", "/r")


@contextmanager
def listen_on(path: str) -> Iterator[str]:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        server.listen()
        yield path


def make_stale_socket(path: str) -> str:
    with listen_on(path):
        return path


def test_socket_names_are_in_the_tmux_folder_and_paths_are_kept(folder):
    settings = Settings(tmux_sockets=("work", "/srv/shared", "work"))
    assert list_candidate_sockets(PATHS, settings, folder) == [f"{folder}/work", "/srv/shared", "/r/demo", "/r/jobs"]


def test_without_a_setting_the_default_and_all_found_sockets_are_candidates(folder):
    make_stale_socket(f"{folder}/b")
    make_stale_socket(f"{folder}/a")
    open(f"{folder}/notes.txt", "w").close()
    os.mkdir(f"{folder}/sub")
    os.symlink(f"{folder}/a", f"{folder}/link")
    assert list_candidate_sockets(PATHS, Settings(), folder) == [
        f"{folder}/{name}" for name in ("default", "a", "b")
    ] + ["/r/demo", "/r/jobs"]


def test_the_default_socket_is_listed_once(folder):
    make_stale_socket(f"{folder}/default")
    assert list_candidate_sockets(PATHS, Settings(), folder) == [f"{folder}/default", "/r/demo", "/r/jobs"]


def test_an_empty_setting_leaves_the_sockets_of_demo_and_jobs(folder):
    make_stale_socket(f"{folder}/a")
    assert list_candidate_sockets(PATHS, Settings(tmux_sockets=()), folder) == ["/r/demo", "/r/jobs"]


def test_a_missing_socket_folder_is_empty():
    assert list_candidate_sockets(PATHS, Settings(), "/no/such/folder") == [
        "/no/such/folder/default",
        "/r/demo",
        "/r/jobs",
    ]


def test_the_socket_folder_defaults_to_the_users():
    assert list_candidate_sockets(PATHS, Settings(tmux_sockets=("x",)))[0] == f"{get_tmux_socket_folder()}/x"


def test_a_socket_with_a_server_is_listening(folder):
    with listen_on(f"{folder}/s") as path:
        assert is_server_listening(path)
    assert not is_server_listening(path)


async def test_probing_a_socket_finds_a_real_server_and_starts_none(tmux, folder):
    assert not is_server_listening(tmux.socket)
    assert not tmux.is_running
    tmux.start_session()
    assert is_server_listening(tmux.socket)
    tmux.kill_server()
    await wait_until(lambda: not is_server_listening(tmux.socket))


def test_files_folders_and_missing_paths_have_no_server(folder):
    open(f"{folder}/file", "w").close()
    assert not any(
        is_server_listening(path) for path in (f"{folder}/file", folder, f"{folder}/nothing", f"{folder}/file/x")
    )


def test_a_socket_of_another_user_is_ignored(folder, monkeypatch):
    with listen_on(f"{folder}/s") as path:
        monkeypatch.setattr(os, "getuid", lambda: os.stat(path).st_uid + 1)
        assert not is_server_listening(path)


def test_configured_sockets_are_those_of_the_settings(folder):
    make_stale_socket(f"{folder}/a")
    assert list_configured_sockets(Settings(), folder) == []
    assert list_configured_sockets(Settings(tmux_sockets=("work", "/srv/x")), folder) == [f"{folder}/work", "/srv/x"]
