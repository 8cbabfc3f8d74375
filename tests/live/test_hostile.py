"""Hostile program output: it cannot control the reader's terminal, forge tmux replies or leak a secret."""

import secrets
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from termvisor.client import Visor
from termvisor.system.subprocesses import run_and_capture
from termvisor.testing.visor_instance import VisorInstance
from tests.live.conftest import run_watched_tmux
from tests.live.polling import wait_until
from tests.live.robot_call import call_robot

HOSTILE_OUTPUT = b"".join(
    (
        b"evil osc52 \x1b]52;c;ZXZpbA==\x07 end\r\n",
        b"evil title \x1b]2;a\x1b[31mred\x1b]0;b\x9d0;c\x07 \x1b]0;two\nlines\x1b\\ \x1b_apc\x1b\\ end\r\n",
        b"evil block %end 1700000000 1 0\r\n%end 1700000000 1 0\r\n%begin 1700000000 1 1\r\n%exit\r\n",
        b"%output %0 forged\r\n%error 1 2 1\r\n%pause %0\r\n%sessions-changed\r\n",
        b"evil utf8 \xff\xfe\xc3\x28\xe2\x82 \xf0\x9f end\r\n",
        b"evil c1 \x9b31m\x9d2;t\x9c \xc2\x9b31m \xc2\x9d2;t\xc2\x9c end\r\n",
        "evil bidi \u202etxet\u202c \u2066x\u2069 \u2028 \ufeff end\r\n".encode(),
        b"evil bytes \x00\x01\x05\x07\x08\x0b\x0c\x0e\x0f\x7f end\r\n",
        b"evil keys \x1b[6n\x1b[c\x1b[5n\x1b[21t\x1b[?1049h\x1b[2J\x1b[?1049l\x1bc end\r\n",
        b"evil asks \x1b[>c\x1b[?6n\x1b[>q\x1b]10;?\x07\x1b]11;?\x1b\\"
        b"\x1b]4;1;?\x07\x1bP$qm\x1b\\\x1bP+q544e\x1b\\\x1bZ end\r\n",
        b"evil halves \x1b[3 \x1b]13 \x1b[?25 \x18 \x1bP \x1a \x1b( \x9b \xe2\x94 end\r\n",
        b"evil unfinished \x1b]2;never closed\r\n\x07",
        b"\x1b[?2004l\x1bPq#0;1;1~-\x1b\\ evil-was-said\r\n",
    )
)
UNPRINTABLE = {chr(code) for code in (*range(0x20), *range(0x7F, 0xA0))} - {"\n"}
FORBIDDEN = UNPRINTABLE | set(
    "\u061c\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff"
)


@pytest.fixture(scope="module")
def fleet():
    with run_watched_tmux() as scene:
        scene.tmux.start_session("keep", "sleep 1000")
        yield scene


@pytest.fixture(scope="module")
def hostile_panes(fleet, tmp_path_factory) -> list[int]:
    """Four panes with hostile output: before the capture, by pipe, with a foreign pipe, and in a hostile folder."""
    folder = tmp_path_factory.mktemp("evil")
    (folder / "file").write_bytes(HOSTILE_OUTPUT)
    hostile_folder = folder / "\x1b]52;c;AAAA\x07\n%end 1 1 1\x1f\x1e\u202e"
    hostile_folder.mkdir()
    tmux = fleet.tmux
    early = tmux.start_session("early", f"cat {folder}/file; exec sh", width=60)
    piped = tmux.start_session("piped")
    own_pipe = tmux.start_session("theirs")
    tmux("pipe-pane", "-t", own_pipe, "cat > /dev/null")
    placed = tmux("new-session", "-d", "-P", "-F", "#{pane_id}", "-s", "placed", "-c", str(hostile_folder), "sh")
    tmux("rename-session", "-t", "=placed:", "p\x1b]2;x\x07\n%exit\u202e\x9b31m")
    tmux("rename-window", "-t", placed, "w\x1b[31m\x9b\n%exit")
    tmux("select-pane", "-t", placed, "-T", "t\x1b]0;x\x07\n%end 1 1 1")
    ids = [
        fleet.wait_until_captured(early),
        fleet.wait_until_captured(piped),
        fleet.wait_until_captured(own_pipe, "control"),
        fleet.wait_until_captured(placed),
    ]
    for mux_id in (piped, own_pipe, placed):
        tmux.type_line(mux_id, f"cat {folder}/file")
    for pane_id in ids:
        fleet.visor.call_robot("wait-for", str(pane_id), "evil-was-said")
    return ids


def run_for_terminal(visor: VisorInstance, *words: str) -> str:
    """Return the output that a terminal would get; it must be valid UTF-8."""
    status, out, _ = run_and_capture([sys.executable, "-m", "termvisor", *words], env=visor.env, timeout_s=30)
    assert status == 0
    return out.decode("utf-8", "strict")


@pytest.mark.parametrize("command", ["list-panes", "list-windows", "list-sessions", "up", "search evil", "events"])
def test_commands_about_all_panes_print_no_control_characters(fleet, hostile_panes, command):
    text = run_for_terminal(fleet.visor, *command.split())
    assert text.count("\n") > 3
    assert FORBIDDEN & set(text) == set()


@pytest.mark.parametrize("output_format", ["markdown", "json"])
@pytest.mark.parametrize(
    "command", ["list-panes", "list-sessions", "search evil -C 3", "events --limit 500", "health", "logs"]
)
def test_markdown_and_json_output_contains_no_control_characters(fleet, hostile_panes, command, output_format):
    text = run_for_terminal(fleet.visor, *command.split(), "--format", output_format)
    assert text
    assert FORBIDDEN & set(text) == set()


def test_client_responses_contain_control_characters_only_in_exact_paths(fleet, hostile_panes):
    with Visor(places=fleet.visor.paths) as visor:
        responses = [visor.list_panes(), visor.list_windows(), visor.list_sessions(), visor.list_events(limit=500)]
        responses += [visor.get_text(pane=str(pane_id), tail=500) for pane_id in hostile_panes]
    texts = [text for response in responses for text in iterate_strings(response)]
    assert len(texts) > 100
    assert {Path(text).exists() for text in texts if UNPRINTABLE & set(text)} == {True}


def iterate_strings(value) -> Iterator[str]:
    """Yield every string in a response, also the keys."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from (name, *iterate_strings(item))
    elif isinstance(value, list):
        for item in value:
            yield from iterate_strings(item)


@pytest.mark.parametrize("command", ["get-text {} --tail 500", "get-screen {}", "export {} --text", "search evil -C 3"])
def test_commands_about_one_pane_print_no_control_characters(fleet, hostile_panes, command):
    for pane_id in hostile_panes:
        text = run_for_terminal(fleet.visor, *command.format(pane_id).split())
        assert "evil-was-said" in text
        assert FORBIDDEN & set(text) == set()


def test_hostile_output_forges_no_pane_and_no_row(fleet, hostile_panes):
    rows = run_for_terminal(fleet.visor, "list-panes", "--quiet").splitlines()
    assert len(rows) == len(fleet.list_panes()) == len(fleet.tmux("list-panes", "-a", "-F", "#{pane_id}").split())
    assert {row.split()[0] for row in rows} >= {str(pane_id) for pane_id in hostile_panes}


def test_forged_tmux_replies_lose_no_output(fleet, hostile_panes):
    for pane_id in hostile_panes:
        lines = fleet.visor.call_robot("get-text", str(pane_id), "--tail", "500")["text"].split("\n")
        assert [lines.count(word) for word in ("%end 1700000000 1 0", "%exit", "%output %0 forged")] == [1, 1, 1]
    assert fleet.list_gap_causes() == []
    fleet.tmux("send-keys", "-t", "=piped:", "C-u")  # tmux typed its reports of cursor and size into the shell
    fleet.print_word(fleet.tmux.read_format("=piped:", "#{pane_id}"), "all-is-well")


FORGED = [
    b"D;0",
    b"A",
    b"B",
    b"D;0;nonce=beef",
    b"A;nonce=",
    b"D;0;nonce",
    b"C;cmdline=forged",
    b"E;forged",
    b"P;nonce=x",
]
MARK_ENCODINGS = [b"\x1b]133;%s\x07", b"\x1b]633;%s\x1b\\", b"\x9d133;%s\x9c", b"\x1bPtmux;\x1b\x1b]133;%s\x07\x1b\\"]


def test_forged_marks_are_ignored_after_marks_with_the_nonce(fleet, tmp_path):
    """A pane prints valid marks, then a hostile file: its activity and exit code do not change."""
    nonce = Path(fleet.visor.paths.nonce_file).read_text().strip()
    mux_id = fleet.tmux.start_session("marked", "stty -echo; exec sh")
    pane_id = fleet.wait_until_captured(mux_id)

    def print_bytes(data: bytes, word: str) -> dict:
        (tmp_path / "bytes").write_bytes(data + f"\r\n{word}\r\n".encode())
        fleet.tmux.type_line(mux_id, f"cat {tmp_path}/bytes")
        fleet.visor.call_robot("wait-for", str(pane_id), f"^{word}$", "--regex")
        (item,) = fleet.visor.call_robot("state", "--pane", str(pane_id))["items"]
        return {name: value for name, value in item["activity"].items() if name != "age"}

    forged = b"".join(encoding % mark for encoding in MARK_ENCODINGS for mark in FORGED)
    before = print_bytes(b"\x1b]133;C;cmdline=x\x07\x1b]133;D;0\x07", "unproven")
    assert (before["kind"], before["is_proven"]) == ("prompt", False)
    running = print_bytes(
        b"\x1b]133;A;nonce=%b\x07\x1b]133;C;nonce=%b\x07" % (nonce.encode(), nonce.encode()), "proven"
    )
    assert (running["kind"], running["is_proven"], running["last_exit"]) == ("command", True, None)
    assert print_bytes(forged, "forged") == running
    ended = print_bytes(b"\x1b]133;D;7;nonce=%b\x07" % nonce.encode(), "ended")
    assert (ended["kind"], ended["is_proven"], ended["last_exit"]) == ("prompt", True, 7)
    assert print_bytes(forged, "forged-again") == ended
    database_bytes = b"".join(path.read_bytes() for path in Path(fleet.visor.paths.data_dir).glob("visor.db*"))
    assert nonce.encode() not in database_bytes


@pytest.fixture(scope="module")
def secret() -> str:
    return "sk-ant-" + "api03-" + secrets.token_hex(24)


@pytest.fixture(scope="module")
def secret_pane(fleet, secret, tmp_path_factory) -> int:
    """A pane that printed a secret at once, in two writes, in colours and wrapped."""
    script = tmp_path_factory.mktemp("leak") / "print.py"
    script.write_text(
        "import os, time\n"
        "say = lambda text: os.write(1, text.encode())\n"
        f"secret = {secret!r}\n"
        "say(f'whole {secret} end\\r\\n')\n"
        "say(f'halves {secret[:20]}'); time.sleep(0.4); say(f'{secret[20:]} end\\r\\n')\n"
        "say(f'coloured \\x1b[31m{secret[:9]}\\x1b[1m{secret[9:]}\\x1b[0m end\\r\\n')\n"
        "say(f'{\"x\" * 40} {secret} end\\r\\n')\n"
        "say(f'\\x1b]2;title {secret}\\x07\\x1b]133;C;cmdline={secret}\\x07')\n"
        "say(f'all-was-printed {secret}')\n"
        "time.sleep(1000)\n"
    )
    mux_id = fleet.tmux.start_session("leaky", width=60)
    pane_id = fleet.wait_until_captured(mux_id)
    fleet.tmux.type_line(mux_id, f"exec {sys.executable} {script}")
    fleet.visor.call_robot("wait-for", str(pane_id), "all-was-printed")
    return pane_id


def contains_secret(data: bytes, secret: str) -> bool:
    """Return True if any long part of the secret is in the data, ignoring case: the index stores lower case."""
    body, lower = secret.rpartition("-")[2], data.lower()
    return any(body[at : at + 10].encode() in lower for at in range(len(body) - 9))


@pytest.mark.parametrize(
    "command",
    [
        "get-text {} --tail 500",
        "robot get-text {} --numbers",
        "robot get-text {} --escapes",
        "get-screen {}",
        "robot get-screen {} --escapes",
        "search end -C 5",
        "robot search printed",
        "robot wait-for {} printed",
        "export {} --raw",
        "export {} --text",
        "export {} --jsonl",
        "robot state",
        "robot events --limit 500",
        "up",
    ],
)
def test_no_command_prints_a_secret(fleet, secret_pane, secret, command):
    status, text, errors = fleet.visor.run(*command.format(secret_pane).split())
    # Status 1: a search without hits.
    assert status in (0, 1) and text, errors
    assert not contains_secret(text.encode(), secret)


def test_no_secret_is_in_the_database_or_a_log(fleet, secret_pane, secret):
    paths = fleet.visor.paths
    wait_until(lambda: "all-was-printed" in call_robot(fleet.visor, "get-text", str(secret_pane))["pending"])
    files = [path for path in Path(paths.data_dir).rglob("*") if path.is_file() and paths.raw_dir not in str(path)]
    assert {"visor.db", "visor.db-wal", "daemon.log"} <= {path.name for path in files}
    assert [path.name for path in files if contains_secret(path.read_bytes(), secret)] == []


def test_only_an_unredacted_raw_export_prints_a_secret_and_is_logged(fleet, secret_pane, secret):
    assert fleet.visor.run("export", str(secret_pane), "--raw", "--unredacted")[0] == 77
    fleet.visor.allow_changes()
    assert secret in fleet.visor.run_checked("export", str(secret_pane), "--raw", "--unredacted")
    assert "exported raw bytes" in Path(fleet.visor.paths.log_file).read_text()
    assert "--unredacted" in fleet.visor.run("export", str(secret_pane), "--text", "--unredacted")[2]
