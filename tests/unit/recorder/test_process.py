"""The recorder as a process: real pipes, a real socket, real files."""

import os
import resource
import signal
import socket
import stat
import sys

import pytest

MB = 1 << 20


def count_descriptors(pid: int) -> int:
    return len(os.listdir(f"/proc/{pid}/fd"))


def test_a_stream_is_reported_from_open_to_end_and_stored_byte_for_byte(home):
    process = home.start()
    listener = home.connect_daemon()
    assert listener.read_until("ready") == [f"hello 1 {process.pid}", "ready"]
    pipe = home.open_pipe("7/12")
    assert listener.read_until("held") == ["held 7/12"]
    pipe.sendall(b"hello")
    listener.read_until("grew 12 5")
    pipe.sendall(b" world")
    pipe.close()
    assert listener.read_until("ended")[-1] == "ended 7/12 11"
    assert home.read_content("7/12") == b"hello world"
    assert home.open_reader("7/12").read_end()[0] == 1


def test_the_log_files_are_private(home):
    home.start()
    listener = home.connect_daemon()
    home.open_pipe("7/12").sendall(b"x")
    listener.read_until("grew 12 1")
    modes = {name: stat.S_IMODE(os.stat(f"{home.path}/{name}").st_mode) for name in ("rec", "raw", "raw/7", "raw/7/12")}
    assert modes == {"rec": 0o600, "raw": 0o700, "raw/7": 0o700, "raw/7/12": 0o700}
    files = os.scandir(f"{home.raw_dir}/7/12")
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}


def test_a_new_daemon_gets_every_stream_and_replaces_the_old_one(home):
    home.start()
    first = home.connect_daemon()
    open_pipe = home.open_pipe("1/1")
    open_pipe.sendall(b"abc")
    home.open_pipe("1/2").close()
    first.read_until("ended 1/2")
    second = home.connect_daemon()
    assert second.read_until("ready")[1:] == ["stream 1/1 3 open", "stream 1/2 0 ended", "ready"]
    first.read_rest()


@pytest.mark.parametrize("greeting", ["listen 2", "listen", "listen 1 2"])
def test_another_protocol_version_gets_the_recorder_version_and_is_closed(home, greeting):
    home.start()
    other_daemon = home.connect_daemon(greeting)
    assert [other_daemon.read_line(), other_daemon.read_line()] == ["version 1", ""]


def test_a_forgotten_stream_is_not_reported_again(home):
    home.start()
    listener = home.connect_daemon()
    home.open_pipe("1/1").close()
    listener.read_until("ended 1/1")
    listener.send_line("forget 1")
    listener.close()
    assert home.connect_daemon().read_until("ready")[1:] == ["ready"]


def test_an_open_stream_cannot_be_forgotten(home):
    home.start()
    listener = home.connect_daemon()
    home.open_pipe("1/1")
    listener.send_line("forget 1")
    listener.close()
    assert home.connect_daemon().read_until("ready")[1] == "stream 1/1 0 open"


def test_a_dropped_stream_is_closed_after_reading_its_pipe(home):
    process = home.start()
    listener = home.connect_daemon()
    pipe = home.open_pipe("1/1")
    process.send_signal(signal.SIGSTOP)
    pipe.sendall(b"x" * 100_000)
    listener.send_line("drop 1")
    process.send_signal(signal.SIGCONT)
    assert listener.read_until("ended")[-1] == "ended 1/1 100000"
    assert pipe.recv(1) == b""


def test_a_quiet_pane_is_captured_beside_a_flooding_one(home):
    home.start()
    listener = home.connect_daemon()
    flood = home.feed("1/1", 8 * MB)
    quiet = home.open_pipe("1/2")
    quiet.sendall(b"quiet")
    listener.read_until("grew 2 5")
    assert flood.wait_sha256()
    listener.read_until("ended 1/1")


@pytest.mark.parametrize("name", ["", "x/1", "1/x", "1", "1/", "/1", "../1", "1/2/3", "1 /2", "-1/2", "1/" + "9" * 60])
def test_a_name_that_is_not_two_numbers_is_refused(home, name):
    home.start()
    client_end, recorder_end = socket.socketpair()
    with client_end, recorder_end:
        assert home.send_message(f"hold {name}".encode(), [recorder_end.fileno()]) == "refused name"
        recorder_end.close()
        assert client_end.recv(1) == b"", "the recorder kept the descriptor"


def test_an_epoch_is_recorded_once(home):
    home.start()
    listener = home.connect_daemon()
    pipe = home.open_pipe("1/5")
    with socket.socket() as other:
        assert home.send_message(b"hold 1/5", [other.fileno()]) == "refused epoch"
        assert home.send_message(b"hold 2/5", [other.fileno()]) == "refused epoch"
        pipe.sendall(b"x")
        pipe.close()
        listener.read_until("ended 1/5")
        listener.send_line("forget 5")
        assert home.send_message(b"hold 1/5", [other.fileno()]) == "refused epoch", "its folder has data"


def test_malformed_messages_are_refused_and_leak_no_descriptor(home):
    process = home.start()
    listener = home.connect_daemon()
    listener.read_until("ready")
    before = count_descriptors(process.pid)
    client_end, recorder_end = socket.socketpair()
    with client_end, recorder_end, open(__file__) as plain_file:
        fd = recorder_end.fileno()
        assert home.send_message(b"hold 1/1", []) == "refused descriptors"
        assert home.send_message(b"hold 1/1", [fd, fd]) == "refused descriptors"
        assert home.send_message(b"hold 1/1", [fd] * 5) == "refused descriptors"
        assert home.send_message(b"hold 1/1", [fd] * 200) == "refused descriptors"
        assert home.send_message(b"hold 1/1", [plain_file.fileno()]) == "refused kind"
        assert home.send_message(b"\x00\xff" * 100, [fd]) == ""
        assert home.send_message(b"quit", [fd]) == ""
        assert home.send_message(b"x" * 100_000, [fd]) == ""
    home.open_pipe("9/9").close()
    listener.read_until("ended 9/9")
    assert count_descriptors(process.pid) == before
    assert process.poll() is None


def test_a_silent_connection_does_not_block_others(home):
    home.start()
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as silent:
        silent.connect(home.socket)
        listener = home.connect_daemon()
        home.open_pipe("1/1").close()
        listener.read_until("ended 1/1 0")


def test_the_recorder_continues_when_it_is_out_of_descriptors(home):
    process = home.start()
    listener = home.connect_daemon()
    pipe = home.open_pipe("1/1")
    listener.read_until("held 1/1")
    resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (count_descriptors(process.pid) + 2,) * 2)
    crowd = [home.connect_daemon("nonsense") for _ in range(20)]
    assert [one.read_line() for one in crowd] == [""] * 20
    pipe.sendall(b"still here")
    assert listener.read_until("grew 1")[-1] == "grew 1 10"


def test_a_second_recorder_exits_without_changing_anything(home):
    first = home.start()
    pipe = home.open_pipe("1/1")
    assert home.start_process().wait() == 3
    pipe.sendall(b"x")
    listener = home.connect_daemon()
    assert listener.read_until("ready")[0] == f"hello 1 {first.pid}"


def test_of_two_recorders_that_start_at_once_one_stays(home):
    first, second = home.start_process(), home.start_process()
    while (ended := next((each for each in (first, second) if each.poll() is not None), None)) is None:
        pass
    assert ended.returncode == 3
    stays = second if ended is first else first
    assert home.connect_daemon().read_until("ready")[0] == f"hello 1 {stays.pid}"


def test_a_socket_that_a_killed_recorder_left_is_replaced(home):
    killed = home.start()
    killed.kill()
    killed.wait()
    process = home.start()
    assert home.connect_daemon().read_until("ready") == [f"hello 1 {process.pid}", "ready"]


def test_after_kill_9_every_reported_byte_is_stored_without_an_end_record(home):
    process = home.start()
    listener = home.connect_daemon()
    pipe = home.open_pipe("1/1")
    pipe.sendall(b"x" * 100_000)
    listener.read_until("grew 1 100000")
    process.kill()
    process.wait()
    assert home.read_content("1/1") == b"x" * 100_000
    assert home.open_reader("1/1").read_end() is None
    assert pipe.recv(1) == b""


@pytest.mark.parametrize("farewell", ["quit", "SIGTERM"])
def test_quit_and_sigterm_close_every_stream_with_an_end_record(home, farewell):
    process = home.start()
    listener = home.connect_daemon()
    pipes = [home.open_pipe(f"1/{epoch}") for epoch in (1, 2)]
    process.send_signal(signal.SIGSTOP)
    pipes[0].sendall(b"last words")
    {"quit": lambda: listener.send_line("quit"), "SIGTERM": process.terminate}[farewell]()
    process.send_signal(signal.SIGCONT)
    assert process.wait() == 0
    assert {"ended 1/1 10", "ended 1/2 0"} <= set(listener.read_rest())
    assert home.open_reader("1/1").read_end()[0] == 1
    assert not os.path.exists(home.socket)


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGINT, signal.SIGPIPE])
def test_closing_its_terminal_does_not_end_the_recorder(home, number):
    process = home.start()
    listener = home.connect_daemon()
    process.send_signal(number)
    home.open_pipe("1/1").close()
    listener.read_until("ended 1/1")


def test_20_mb_over_many_segments_are_exact_while_the_daemon_restarts_five_times(home):
    home.start(segment_bytes=300_000)
    feeders = [home.feed(f"1/{epoch}", 10 * MB, epoch) for epoch in (1, 2)]
    for _ in range(5):
        listener = home.connect_daemon()
        listener.read_until("grew")
        listener.close()
    last = home.connect_daemon()
    digests = [feeder.wait_sha256() for feeder in feeders]
    assert set(last.read_until("ready")) | set(last.read_until("ended") + last.read_until("ended")) >= {
        "ended 1/1 10485760"
    }
    assert [home.compute_sha256("1/1"), home.compute_sha256("1/2")] == digests
    assert len(os.listdir(f"{home.raw_dir}/1/1")) > 50


def test_a_reexec_under_load_loses_no_byte_and_keeps_ended_streams(home):
    process = home.start(segment_bytes=300_000)
    home.connect_daemon().read_until("ready")
    home.open_pipe("1/9").close()
    feeders = [home.feed(f"1/{epoch}", 6 * MB, epoch) for epoch in (1, 2, 3)]
    for _ in range(5):
        listener = home.connect_daemon()
        listener.read_until("grew")
        listener.send_line(f"reexec {sys.executable}")
        listener.read_rest()
    digests = [feeder.wait_sha256() for feeder in feeders]
    listener = home.connect_daemon()
    reports = listener.read_until("ready")
    assert reports[0] == f"hello 1 {process.pid}"
    assert "stream 1/9 0 ended" in reports
    listener.send_line("quit")
    process.wait()
    assert [home.compute_sha256(f"1/{epoch}") for epoch in (1, 2, 3)] == digests
    assert [home.open_reader(f"1/{epoch}").read_end()[0] for epoch in (1, 2, 3)] == [1, 1, 1]


def test_a_helper_connected_before_a_reexec_is_served_after_it(home):
    home.start()
    listener = home.connect_daemon()
    client_end, recorder_end = socket.socketpair()
    with client_end, recorder_end, socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as helper:
        helper.settimeout(20)
        helper.connect(home.socket)
        home.open_pipe("1/1")
        listener.read_until("held 1/1")
        listener.send_line(f"reexec {sys.executable}")
        listener.read_rest()
        socket.send_fds(helper, [b"hold 1/2"], [recorder_end.fileno()])
        assert helper.recv(100) == b"ok\n"


def test_sigterm_during_a_reexec_still_writes_end_records(home):
    process = home.start()
    listener = home.connect_daemon()
    pipe = home.open_pipe("1/1")
    pipe.sendall(b"x")
    process.send_signal(signal.SIGSTOP)
    listener.send_line(f"reexec {sys.executable}")
    process.send_signal(signal.SIGCONT)
    listener.read_rest()
    process.terminate()
    assert process.wait() == 0
    assert home.open_reader("1/1").read_end()[0] == 1


def test_a_failed_reexec_changes_nothing(home):
    process = home.start()
    listener = home.connect_daemon()
    pipe = home.open_pipe("1/1")
    listener.read_until("held 1/1")
    before = count_descriptors(process.pid)
    listener.send_line("reexec /nowhere/python")
    assert listener.read_until("failed")[-1] == "failed reexec 2"
    assert count_descriptors(process.pid) == before
    pipe.sendall(b"on")
    listener.read_until("grew 1 2")
    process.terminate()
    assert process.wait() == 0


def test_without_a_daemon_recording_stops_at_the_cap_and_is_reported_later(home):
    home.start(cap_bytes=1 * MB)
    pipe = home.open_pipe("1/1")
    with pytest.raises((BrokenPipeError, ConnectionResetError)):
        pipe.sendall(b"x" * 8 * MB)
    listener = home.connect_daemon()
    _, name, size, state = listener.read_until("stream")[-1].split()
    assert (name, state) == ("1/1", "capped")
    assert 1 * MB < int(size) < 2 * MB
    assert home.open_reader("1/1").read_end()[0] == 2
    assert home.open_reader("1/1").read_size() == int(size)


def test_with_a_daemon_the_cap_does_not_apply(home):
    home.start(cap_bytes=1 * MB)
    listener = home.connect_daemon()
    feeder = home.feed("1/1", 4 * MB)
    assert listener.read_until("ended")[-1] == f"ended 1/1 {4 * MB}"
    assert home.compute_sha256("1/1") == feeder.wait_sha256()


def test_a_slow_daemon_neither_blocks_nor_grows_the_recorder(home):
    process = home.start()
    listener = home.connect_daemon()
    feeders = [home.feed(f"1/{epoch}", 200_000, epoch) for epoch in range(1, 101)]
    digests = [feeder.wait_sha256() for feeder in feeders]
    with open(f"/proc/{process.pid}/status") as status:
        print("\nRSS with 100 streams and a listener that reads nothing:", *(row for row in status if "VmRSS" in row))
    ended = [listener.read_until("ended")[-1] for _ in range(100)]
    assert sorted(ended) == sorted(f"ended 1/{epoch} 200000" for epoch in range(1, 101))
    assert [home.compute_sha256(f"1/{epoch}") for epoch in range(1, 101)] == digests


def test_a_stream_whose_file_cannot_grow_is_closed_and_others_continue(home):
    process = home.start(segment_bytes=8 * MB)
    listener = home.connect_daemon()
    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (100_000, 100_000))
    full, other = home.open_pipe("1/1"), home.open_pipe("1/2")
    with pytest.raises((BrokenPipeError, ConnectionResetError)):
        full.sendall(b"x" * 8 * MB)
    assert listener.read_until("capped")[-1] == "capped 1/1 100000"
    assert home.read_content("1/1") == b"x" * 100_000
    assert home.open_reader("1/1").read_end()[0] == 2
    other.sendall(b"going on")
    listener.read_until("grew 2 8")


def test_a_log_whose_folder_cannot_be_created_is_refused_or_capped(home):
    home.start()
    listener = home.connect_daemon()
    os.makedirs(f"{home.raw_dir}/2")
    with open(f"{home.raw_dir}/1", "w"), socket.socket() as any_pipe:
        assert home.send_message(b"hold 1/1", [any_pipe.fileno()]) == "refused epoch"
    pipe = home.open_pipe("2/2")
    os.symlink("/nowhere", f"{home.raw_dir}/2/2")
    pipe.sendall(b"x")
    assert listener.read_until("capped")[-1] == "capped 2/2 0"
    home.open_pipe("3/3").close()
    listener.read_until("ended 3/3")
