"""The recorder as a process: real pipes, a real socket, real files."""

import os
import resource
import signal
import socket
import stat
import sys

import pytest

MB = 1 << 20


def descriptors(pid: int) -> int:
    return len(os.listdir(f"/proc/{pid}/fd"))


def test_a_stream_is_told_from_hold_to_end_and_lies_on_disk_byte_for_byte(home):
    process = home.start()
    listener = home.listen()
    assert listener.until("ready") == [f"hello 1 {process.pid}", "ready"]
    pipe = home.hold("7/12")
    assert listener.until("held") == ["held 7/12"]
    pipe.sendall(b"hello")
    listener.until("grew 12 5")
    pipe.sendall(b" world")
    pipe.close()
    assert listener.until("ended")[-1] == "ended 7/12 11"
    assert home.content("7/12") == b"hello world"
    assert home.reader("7/12").ended()[0] == 1


def test_what_it_writes_is_private(home):
    home.start()
    listener = home.listen()
    home.hold("7/12").sendall(b"x")
    listener.until("grew 12 1")
    modes = {name: stat.S_IMODE(os.stat(f"{home.path}/{name}").st_mode) for name in ("rec", "raw", "raw/7", "raw/7/12")}
    assert modes == {"rec": 0o600, "raw": 0o700, "raw/7": 0o700, "raw/7/12": 0o700}
    files = os.scandir(f"{home.raw_dir}/7/12")
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}


def test_a_new_listener_is_told_every_stream_and_replaces_the_old_one(home):
    home.start()
    first = home.listen()
    open_pipe = home.hold("1/1")
    open_pipe.sendall(b"abc")
    home.hold("1/2").close()
    first.until("ended 1/2")
    second = home.listen()
    assert second.until("ready")[1:] == ["stream 1/1 3 open", "stream 1/2 0 ended", "ready"]
    first.rest()


@pytest.mark.parametrize("greeting", ["listen 2", "listen", "listen 1 2"])
def test_another_protocol_version_is_told_ours_and_sent_away(home, greeting):
    home.start()
    stranger = home.listen(greeting)
    assert [stranger.next(), stranger.next()] == ["version 1", ""]


def test_a_forgotten_stream_is_not_mentioned_again(home):
    home.start()
    listener = home.listen()
    home.hold("1/1").close()
    listener.until("ended 1/1")
    listener.say("forget 1")
    listener.close()
    assert home.listen().until("ready")[1:] == ["ready"]


def test_an_open_stream_cannot_be_forgotten(home):
    home.start()
    listener = home.listen()
    home.hold("1/1")
    listener.say("forget 1")
    listener.close()
    assert home.listen().until("ready")[1] == "stream 1/1 0 open"


def test_a_dropped_stream_is_closed_with_all_that_its_pipe_held(home):
    process = home.start()
    listener = home.listen()
    pipe = home.hold("1/1")
    process.send_signal(signal.SIGSTOP)
    pipe.sendall(b"x" * 100_000)
    listener.say("drop 1")
    process.send_signal(signal.SIGCONT)
    assert listener.until("ended")[-1] == "ended 1/1 100000"
    assert pipe.recv(1) == b""


def test_a_quiet_pane_is_heard_beside_a_flooding_one(home):
    home.start()
    listener = home.listen()
    flood = home.feed("1/1", 8 * MB)
    quiet = home.hold("1/2")
    quiet.sendall(b"quiet")
    listener.until("grew 2 5")
    assert flood.sha256()
    listener.until("ended 1/1")


@pytest.mark.parametrize("name", ["", "x/1", "1/x", "1", "1/", "/1", "../1", "1/2/3", "1 /2", "-1/2", "1/" + "9" * 60])
def test_a_name_that_is_not_two_numbers_is_refused(home, name):
    home.start()
    ours, theirs = socket.socketpair()
    with ours, theirs:
        assert home.ask(f"hold {name}".encode(), [theirs.fileno()]) == "refused name"
        theirs.close()
        assert ours.recv(1) == b"", "the recorder kept the descriptor"


def test_an_epoch_is_recorded_once(home):
    home.start()
    listener = home.listen()
    pipe = home.hold("1/5")
    with socket.socket() as other:
        assert home.ask(b"hold 1/5", [other.fileno()]) == "refused epoch"
        assert home.ask(b"hold 2/5", [other.fileno()]) == "refused epoch"
        pipe.sendall(b"x")
        pipe.close()
        listener.until("ended 1/5")
        listener.say("forget 5")
        assert home.ask(b"hold 1/5", [other.fileno()]) == "refused epoch", "its folder has data"


def test_nonsense_harms_nothing_and_leaks_no_descriptor(home):
    process = home.start()
    listener = home.listen()
    listener.until("ready")
    before = descriptors(process.pid)
    ours, theirs = socket.socketpair()
    with ours, theirs, open(__file__) as plain_file:
        fd = theirs.fileno()
        assert home.ask(b"hold 1/1", []) == "refused descriptors"
        assert home.ask(b"hold 1/1", [fd, fd]) == "refused descriptors"
        assert home.ask(b"hold 1/1", [fd] * 5) == "refused descriptors"
        assert home.ask(b"hold 1/1", [fd] * 200) == "refused descriptors"
        assert home.ask(b"hold 1/1", [plain_file.fileno()]) == "refused kind"
        assert home.ask(b"\x00\xff" * 100, [fd]) == ""
        assert home.ask(b"quit", [fd]) == ""
        assert home.ask(b"x" * 100_000, [fd]) == ""
    home.hold("9/9").close()
    listener.until("ended 9/9")
    assert descriptors(process.pid) == before
    assert process.poll() is None


def test_a_silent_connection_holds_nobody_up(home):
    home.start()
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as silent:
        silent.connect(home.socket)
        listener = home.listen()
        home.hold("1/1").close()
        listener.until("ended 1/1 0")


def test_it_goes_on_when_it_is_out_of_descriptors(home):
    process = home.start()
    listener = home.listen()
    pipe = home.hold("1/1")
    listener.until("held 1/1")
    resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (descriptors(process.pid) + 2,) * 2)
    crowd = [home.listen("nonsense") for _ in range(20)]
    assert [one.next() for one in crowd] == [""] * 20
    pipe.sendall(b"still here")
    assert listener.until("grew 1")[-1] == "grew 1 10"


def test_a_second_recorder_steps_back_without_touching_anything(home):
    first = home.start()
    pipe = home.hold("1/1")
    assert home.launch().wait() == 3
    pipe.sendall(b"x")
    listener = home.listen()
    assert listener.until("ready")[0] == f"hello 1 {first.pid}"


def test_of_two_that_start_at_once_one_stays(home):
    first, second = home.launch(), home.launch()
    while (ended := next((each for each in (first, second) if each.poll() is not None), None)) is None:
        pass
    assert ended.returncode == 3
    stays = second if ended is first else first
    assert home.listen().until("ready")[0] == f"hello 1 {stays.pid}"


def test_a_socket_that_a_killed_recorder_left_is_replaced(home):
    killed = home.start()
    killed.kill()
    killed.wait()
    process = home.start()
    assert home.listen().until("ready") == [f"hello 1 {process.pid}", "ready"]


def test_after_kill_9_every_byte_that_was_told_is_there_and_no_end_is_claimed(home):
    process = home.start()
    listener = home.listen()
    pipe = home.hold("1/1")
    pipe.sendall(b"x" * 100_000)
    listener.until("grew 1 100000")
    process.kill()
    process.wait()
    assert home.content("1/1") == b"x" * 100_000
    assert home.reader("1/1").ended() is None
    assert pipe.recv(1) == b""


@pytest.mark.parametrize("farewell", ["quit", "SIGTERM"])
def test_quit_and_sigterm_close_every_stream_in_good_order(home, farewell):
    process = home.start()
    listener = home.listen()
    pipes = [home.hold(f"1/{epoch}") for epoch in (1, 2)]
    process.send_signal(signal.SIGSTOP)
    pipes[0].sendall(b"last words")
    {"quit": lambda: listener.say("quit"), "SIGTERM": process.terminate}[farewell]()
    process.send_signal(signal.SIGCONT)
    assert process.wait() == 0
    assert {"ended 1/1 10", "ended 1/2 0"} <= set(listener.rest())
    assert home.reader("1/1").ended()[0] == 1
    assert not os.path.exists(home.socket)


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGINT, signal.SIGPIPE])
def test_a_terminal_that_goes_away_does_not_end_it(home, number):
    process = home.start()
    listener = home.listen()
    process.send_signal(number)
    home.hold("1/1").close()
    listener.until("ended 1/1")


def test_20_mb_over_many_segments_are_exact_while_the_listener_restarts_five_times(home):
    home.start(segment_bytes=300_000)
    feeders = [home.feed(f"1/{epoch}", 10 * MB, epoch) for epoch in (1, 2)]
    for _ in range(5):
        listener = home.listen()
        listener.until("grew")
        listener.close()
    last = home.listen()
    digests = [feeder.sha256() for feeder in feeders]
    assert set(last.until("ready")) | set(last.until("ended") + last.until("ended")) >= {"ended 1/1 10485760"}
    assert [home.sha256("1/1"), home.sha256("1/2")] == digests
    assert len(os.listdir(f"{home.raw_dir}/1/1")) > 50


def test_re_execution_under_load_loses_no_byte_and_keeps_what_ended(home):
    process = home.start(segment_bytes=300_000)
    home.listen().until("ready")
    home.hold("1/9").close()
    feeders = [home.feed(f"1/{epoch}", 6 * MB, epoch) for epoch in (1, 2, 3)]
    for _ in range(5):
        listener = home.listen()
        listener.until("grew")
        listener.say(f"reexec {sys.executable}")
        listener.rest()
    digests = [feeder.sha256() for feeder in feeders]
    listener = home.listen()
    told = listener.until("ready")
    assert told[0] == f"hello 1 {process.pid}"
    assert "stream 1/9 0 ended" in told
    listener.say("quit")
    process.wait()
    assert [home.sha256(f"1/{epoch}") for epoch in (1, 2, 3)] == digests
    assert [home.reader(f"1/{epoch}").ended()[0] for epoch in (1, 2, 3)] == [1, 1, 1]


def test_a_helper_that_was_connected_before_a_re_execution_is_served_after_it(home):
    home.start()
    listener = home.listen()
    ours, theirs = socket.socketpair()
    with ours, theirs, socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as helper:
        helper.settimeout(20)
        helper.connect(home.socket)
        home.hold("1/1")
        listener.until("held 1/1")
        listener.say(f"reexec {sys.executable}")
        listener.rest()
        socket.send_fds(helper, [b"hold 1/2"], [theirs.fileno()])
        assert helper.recv(100) == b"ok\n"


def test_sigterm_in_the_middle_of_a_re_execution_still_ends_in_good_order(home):
    process = home.start()
    listener = home.listen()
    pipe = home.hold("1/1")
    pipe.sendall(b"x")
    process.send_signal(signal.SIGSTOP)
    listener.say(f"reexec {sys.executable}")
    process.send_signal(signal.SIGCONT)
    listener.rest()
    process.terminate()
    assert process.wait() == 0
    assert home.reader("1/1").ended()[0] == 1


def test_a_successor_that_cannot_be_started_changes_nothing(home):
    process = home.start()
    listener = home.listen()
    pipe = home.hold("1/1")
    listener.until("held 1/1")
    before = descriptors(process.pid)
    listener.say("reexec /nowhere/python")
    assert listener.until("failed")[-1] == "failed reexec 2"
    assert descriptors(process.pid) == before
    pipe.sendall(b"on")
    listener.until("grew 1 2")
    process.terminate()
    assert process.wait() == 0


def test_without_a_listener_it_stops_at_the_cap_and_says_so_later(home):
    home.start(cap_bytes=1 * MB)
    pipe = home.hold("1/1")
    with pytest.raises((BrokenPipeError, ConnectionResetError)):
        pipe.sendall(b"x" * 8 * MB)
    listener = home.listen()
    _, name, size, state = listener.until("stream")[-1].split()
    assert (name, state) == ("1/1", "capped")
    assert 1 * MB < int(size) < 2 * MB
    assert home.reader("1/1").ended()[0] == 2
    assert home.reader("1/1").size() == int(size)


def test_a_listener_keeps_it_from_the_cap(home):
    home.start(cap_bytes=1 * MB)
    listener = home.listen()
    feeder = home.feed("1/1", 4 * MB)
    assert listener.until("ended")[-1] == f"ended 1/1 {4 * MB}"
    assert home.sha256("1/1") == feeder.sha256()


def test_a_slow_listener_neither_blocks_it_nor_makes_it_grow_and_is_told_the_end(home):
    process = home.start()
    listener = home.listen()
    feeders = [home.feed(f"1/{epoch}", 200_000, epoch) for epoch in range(1, 101)]
    digests = [feeder.sha256() for feeder in feeders]
    with open(f"/proc/{process.pid}/status") as status:
        print("\nRSS with 100 streams and a listener that reads nothing:", *(row for row in status if "VmRSS" in row))
    ended = [listener.until("ended")[-1] for _ in range(100)]
    assert sorted(ended) == sorted(f"ended 1/{epoch} 200000" for epoch in range(1, 101))
    assert [home.sha256(f"1/{epoch}") for epoch in range(1, 101)] == digests


def test_a_stream_whose_file_cannot_grow_is_closed_exactly_and_the_others_go_on(home):
    process = home.start(segment_bytes=8 * MB)
    listener = home.listen()
    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (100_000, 100_000))
    full, other = home.hold("1/1"), home.hold("1/2")
    with pytest.raises((BrokenPipeError, ConnectionResetError)):
        full.sendall(b"x" * 8 * MB)
    assert listener.until("capped")[-1] == "capped 1/1 100000"
    assert home.content("1/1") == b"x" * 100_000
    assert home.reader("1/1").ended()[0] == 2
    other.sendall(b"going on")
    listener.until("grew 2 8")


def test_a_log_whose_folder_cannot_be_made_is_refused_or_told_as_capped(home):
    home.start()
    listener = home.listen()
    os.makedirs(f"{home.raw_dir}/2")
    with open(f"{home.raw_dir}/1", "w"), socket.socket() as any_pipe:
        assert home.ask(b"hold 1/1", [any_pipe.fileno()]) == "refused epoch"
    pipe = home.hold("2/2")
    os.symlink("/nowhere", f"{home.raw_dir}/2/2")
    pipe.sendall(b"x")
    assert listener.until("capped")[-1] == "capped 2/2 0"
    home.hold("3/3").close()
    listener.until("ended 3/3")
