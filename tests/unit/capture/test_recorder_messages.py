"""What the recorder client makes of the recorder's lines and of a child that exits, without a recorder."""

import os
import stat
from types import SimpleNamespace

import pytest

from termvisor.capture import recorder_client
from termvisor.capture.recorder_client import RecordedStream, RecorderClient, RecorderDied
from termvisor.errors import Conflict, Unavailable
from termvisor.model.ids import EpochId, PaneId
from termvisor.recorder.startup import EXIT_ALREADY_RUNNING, EXIT_LOCKED
from termvisor.settings import Paths, Settings
from termvisor.system.files import open_log_file

OPEN, GREW, ENDED = (
    RecordedStream(PaneId(1), EpochId(2), size, state) for size, state in ((0, "open"), (5, "open"), (7, "ended"))
)


class ReportingClient(RecorderClient):
    """A client that keeps its reports in order."""

    def __init__(self, folder: str):
        super().__init__(Paths(f"{folder}/c", f"{folder}/d", f"{folder}/r"), Settings(), self._note_growth)
        self.reports: list[object] = []
        self.on_update = self.reports.append

    def _note_growth(self, epoch: EpochId, size: int) -> None:
        self.reports.append((epoch, size))


@pytest.fixture
def client(tmp_path) -> ReportingClient:
    return ReportingClient(str(tmp_path))


def test_each_line_of_the_recorder_changes_the_streams_and_is_reported(client):
    client._handle_line("hello 3 42")
    client._handle_line("stream 4/9 11 capped")
    assert (client.pid, client.reports, client.streams) == (
        (42, [], {9: RecordedStream(PaneId(4), EpochId(9), 11, "capped")})
    )
    for line in ("held 1/2", "grew 2 5", "grew 99 5", "ended 1/2 7"):
        client._handle_line(line)
    assert client.reports == [OPEN, (2, 5), ENDED]
    assert (client.streams[EpochId(2)], client.is_stream_open(EpochId(2))) == (ENDED, False)
    assert not client.is_stream_open(EpochId(99))


@pytest.mark.parametrize("state", ["capped", "starved"])
def test_a_stream_that_the_recorder_closed_is_reported_with_its_cause(client, state):
    client._handle_line(f"{state} 1/2 7")
    assert client.reports == [RecordedStream(PaneId(1), EpochId(2), 7, state)]


@pytest.mark.parametrize(
    ("before", "now", "reports"),
    [
        (None, OPEN, [OPEN, (2, 0)]),
        (None, GREW, [GREW, (2, 5)]),
        (None, ENDED, [RecordedStream(PaneId(1), EpochId(2), 7, "open"), ENDED]),
        (OPEN, OPEN, []),
        (OPEN, GREW, [(2, 5)]),
        (GREW, ENDED, [ENDED]),
        (ENDED, ENDED, []),
    ],
)
def test_the_difference_between_two_connections_is_reported_once(client, before, now, reports):
    client._report_difference(before, now)
    assert client.reports == reports


def test_messages_during_a_reexec_are_sent_after_it(client):
    sent: list[bytes] = []
    client.streams = {EpochId(2): OPEN, EpochId(3): OPEN}
    client._connection = SimpleNamespace(send=sent.append, is_ready=True, close=lambda: sent.append(b"close"))
    client.drop_stream(EpochId(2))
    client._deferred_messages = []
    client.drop_stream(EpochId(3))
    client.forget_stream(EpochId(3))
    client.streams[EpochId(3)] = OPEN  # listed again by the new program
    assert sent == [b"drop 2\n"]
    client._send_deferred()
    client.forget_stream(EpochId(2))
    assert sent == [b"drop 2\n", b"drop 3\n", b"forget 3\n", b"forget 2\n"]
    assert client.streams == {}
    client.close()
    client.drop_stream(EpochId(2))
    assert (sent[-1], client.is_connected, client.pid) == (b"close", False, None)


@pytest.mark.parametrize(
    ("is_ready", "is_disconnecting", "reports", "is_closed"),
    [
        (True, False, [RecorderDied()], True),
        (False, False, [], True),
        (True, True, [], False),
    ],
)
def test_a_lost_connection_is_a_death_unless_it_was_asked_for(client, is_ready, is_disconnecting, reports, is_closed):
    client._connection = SimpleNamespace(is_ready=is_ready, close=lambda: None)
    client._is_disconnecting = is_disconnecting
    client._handle_disconnect()
    assert (client.reports, client._connection is None) == (reports, is_closed)


@pytest.mark.parametrize(
    ("pid", "free", "is_starved"), [(None, 0, False), (7, None, False), (7, 3, True), (7, 4, False)]
)
def test_a_recorder_with_too_few_descriptors_is_starved(client, monkeypatch, pid, free, is_starved):
    monkeypatch.setattr(recorder_client, "count_free_descriptors", lambda pid: free)
    client.pid = pid
    assert client.is_starved is is_starved


@pytest.mark.parametrize(
    ("status", "is_starting", "is_started"),
    [
        (None, True, False),
        (None, False, False),
        (0, True, True),
        (EXIT_ALREADY_RUNNING, True, True),
        (1, False, True),
        (EXIT_LOCKED, False, True),
    ],
)
def test_a_recorder_is_started_unless_one_is_running(client, monkeypatch, status, is_starting, is_started):
    started = []
    monkeypatch.setattr(
        recorder_client.subprocesses, "start_detached", lambda argv, log: started.append(argv) or "child"
    )
    client._child, client._is_child_starting = SimpleNamespace(poll=lambda: status), is_starting
    client._spawn_recorder()
    assert (bool(started), client._child == "child") == (is_started, is_started)
    assert client._is_child_starting is (is_started or is_starting)


@pytest.mark.parametrize(
    ("status", "error", "text"), [(EXIT_LOCKED, Conflict, "another runtime"), (1, Unavailable, "status 1")]
)
def test_a_recorder_that_exits_at_once_is_not_started_again_and_again(client, status, error, text):
    client._child, client._is_child_starting = SimpleNamespace(poll=lambda: status), True
    with pytest.raises(error, match=text) as caught:
        client._spawn_recorder()
    assert (client._is_child_starting, bool(caught.value.hint)) == (False, True)


def test_the_log_of_the_recorder_and_its_folder_are_private(tmp_path):
    open_log_file(f"{tmp_path}/new/recorder.log").close()
    assert stat.S_IMODE(os.stat(tmp_path / "new").st_mode) == 0o700
    assert stat.S_IMODE(os.stat(tmp_path / "new/recorder.log").st_mode) == 0o600
    open_log_file(f"{tmp_path}/new/recorder.log").close()


async def test_a_socket_that_cannot_be_used_is_reported_at_once(client, monkeypatch):
    def refuse(path: str):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(recorder_client, "connect_socket", refuse)
    with pytest.raises(Unavailable, match="Permission denied"):
        await client.start()
