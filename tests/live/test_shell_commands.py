"""Shell commands of real shells with the integration: output lines and exit codes are stored, forged marks ignored."""

import base64
from pathlib import Path

import pytest

from tests.live.conftest import run_watched_tmux
from tests.live.polling import wait_until
from tests.live.robot_call import call_robot
from tests.live.robot_shells import SHELLS
from tests.live.shell_setup import ShellHome, ShellPane

FORGED_MARKS = b"".join(
    b"\x1b]133;%s\x07\x1b]633;%s\x07" % (mark, mark)
    for mark in (b"D;0", b"A", b"B", b"E;rm -rf /", b"C;nonce=beef", b"D;0;nonce=beef", b"C")
)


@pytest.fixture(scope="module")
def fleet():
    with run_watched_tmux() as scene:
        scene.tmux.start_session("keep", "sleep 1000")
        scene.list_panes()
        yield scene


@pytest.fixture
def open_shell(fleet, tmp_path):
    def open_pane(shell: str = "bash") -> "ShellClient":
        return ShellClient(fleet, ShellHome(tmp_path, shell).write_setup(fleet.visor.paths))

    return open_pane


class ShellClient(ShellPane):
    """A shell pane, and queries about its commands."""

    @property
    def visor(self):
        return self._scene.visor

    @property
    def cursor(self) -> str:
        return self.visor.call_robot("get-text", str(self.pane_id), "--tail", "1")["cursor"]

    @property
    def commands(self) -> list[dict]:
        return self.visor.call_robot("commands", "--pane", str(self.pane_id))["items"]

    @property
    def summary(self) -> list[tuple[str, str, int | None]]:
        return [(item["command"], item["status"], item["exit_code"]) for item in self.commands]

    def read_output(self, which: str = "last") -> list[str]:
        got = self.visor.call_robot("get-text", str(self.pane_id), "--command", which, "--numbers")
        return [*(line["text"] for line in got["lines"]), *filter(None, [got["pending"]])]

    def wait_until_finished(self, *words: str) -> dict:
        return self.visor.call_robot(
            "wait-for", str(self.pane_id), "--command-finished", "--timeout-secs", "20", *words
        )

    def run_command(self, line: str) -> dict:
        """Take a cursor, type a line, wait for its end and return the command."""
        cursor = self.cursor
        self.type_line(line)
        return self.wait_until_finished("--since", cursor)["command"]


@pytest.mark.parametrize("shell", SHELLS)
def test_a_typed_command_can_be_waited_for_and_its_output_read(open_shell, shell, tmp_path):
    client = open_shell(shell)
    (tmp_path / "a b").mkdir()
    done = client.run_command("printf 'one\\ntwo\\n'")
    assert (done["command"], done["exit_code"], done["is_proven"]) == ("printf 'one\\ntwo\\n'", 0, True)
    assert client.read_output() == ["one", "two"]
    assert client.run_command("sh -c 'echo three; exit 3'")["exit_code"] == 3
    assert client.read_output() == ["three"]
    client.run_command("cd 'a b'")
    assert client.read_output() == []
    assert client.run_command("true")["cwd"] == str(tmp_path / "a b")
    assert [item["exit_code"] for item in client.commands] == [0, 3, 0, 0]
    failed = client.visor.call_robot("commands", "--failed", "--pane", str(client.pane_id))["items"]
    assert [item["exit_code"] for item in failed] == [3]


def test_wait_for_finds_a_command_that_finished_after_the_cursor(open_shell):
    client = open_shell()
    cursor = client.cursor
    client.run_lines("true", "sh -c 'exit 4'")
    first = client.wait_until_finished("--since", cursor)
    assert (first["outcome"], first["command"]["command"]) == ("finished", "true")
    assert client.wait_until_finished("--since", first["cursor"])["command"]["exit_code"] == 4


def test_the_output_of_a_running_command_is_readable(open_shell):
    client = open_shell()
    client.type_line("echo begun; sleep 1000")
    wait_until(lambda: client.read_output() == ["begun"])
    assert client.summary == [("echo begun; sleep 1000", "running", None)]
    client.press_keys("C-c")
    wait_until(lambda: client.summary == [("echo begun; sleep 1000", "finished", 130)])
    assert client.read_output()[0] == "begun"


def test_empty_and_interrupted_prompts_are_not_commands(open_shell):
    client = open_shell()
    client.press_keys("Enter")
    client.press_keys("-l", "half a line")
    client.press_keys("C-c")
    assert client.run_command("echo whole")["exit_code"] == 0
    assert client.summary == [("echo whole", "finished", 0)]


def test_command_output_has_exact_boundaries(open_shell, tmp_path):
    client = open_shell()
    unended = client.run_command("printf unended")
    wait_until(lambda: client.read_output() == ["unendedleft>"])
    client.run_command("clear")
    assert client.read_output() == []
    client.run_command("printf '\\033[?1049h\\033[2Jpainted\\n\\033[?1049l'; echo scrolled")
    assert client.read_output() == ["scrolled"]
    client.run_command("seq 1 5000")
    whole = client.visor.call_robot("get-text", str(client.pane_id), "--command", "last", "--limit", "10000")
    assert whole["text"].split("\n") == [str(number) for number in range(1, 5001)]
    assert client.read_output(str(unended["id"])) == ["unendedleft> clear"]


def test_a_nested_shell_reports_its_own_commands(open_shell):
    client = open_shell()
    client.type_line("bash -i")
    wait_until(lambda: client.activity["kind"] == "prompt" and client.summary == [("bash -i", "running", None)])
    assert client.run_command("sh -c 'exit 5'")["exit_code"] == 5
    assert client.summary == [("bash -i", "running", None), ("sh -c 'exit 5'", "finished", 5)]
    client.type_line("exit 6")
    wait_until(lambda: client.summary[0] == ("bash -i", "finished", 6))
    assert client.summary[2] == ("exit 6", "lost", None)


def test_forged_marks_in_a_file_start_and_end_no_command(open_shell, tmp_path):
    (tmp_path / "evil").write_bytes(FORGED_MARKS + b"evil-was-shown\r\n" + FORGED_MARKS)
    client = open_shell()
    client.run_command("cat evil; sh -c 'exit 9'")
    assert client.summary == [("cat evil; sh -c 'exit 9'", "finished", 9)]
    assert client.read_output() == ["evil-was-shown"]


def test_forged_marks_in_a_shell_without_integration_are_unproven(fleet, shell):
    pane_id = str(fleet.find_pane_id(shell))
    fleet.tmux.type_line(shell, "printf '\\033]133;C;cmdline=forged\\a'; echo o''ut; printf '\\033]133;D;0\\a'")
    (item,) = wait_until(lambda: call_robot(fleet.visor, "commands", "--pane", pane_id, "--text", "forged")["items"])
    assert (item["status"], item["exit_code"], item["is_proven"]) == ("finished", 0, False)
    assert fleet.visor.call_robot("get-text", pane_id, "--command", "last")["text"] == "out"


@pytest.fixture
def shell(fleet):
    mux_id = fleet.tmux.start_session("plain", "sh")
    fleet.wait_until_captured(mux_id)
    return mux_id


def test_a_killed_daemon_stores_each_command_once(open_shell, tmp_path):
    client = open_shell()
    client.type_line("echo before; until [ -e go-on ]; do sleep 0.05; done; echo after; sh -c 'exit 7'")
    wait_until(lambda: client.read_output() == ["before"])
    client.visor.kill_daemon()
    (tmp_path / "go-on").touch()
    wait_until(lambda: [item["exit_code"] for item in client.commands] == [7])
    assert client.read_output() == ["before", "after"]
    assert client.run_command("true")["id"] > client.commands[0]["id"]


def test_user_variables_are_events_and_proven_only_by_the_nonce(open_shell, fleet):
    client = open_shell()
    nonce = Path(client.visor.paths.nonce_file).read_text().strip()
    values = [b'{"port": 80}', b'{"nonce": "beef"}', b'{"nonce": "%s"}' % nonce.encode(), b"no json", b'{"last": 1}']
    for value in values:
        client.run_command(f"printf '\\033]1337;SetUserVar=visor-ready=%s\\a' {base64.b64encode(value).decode()}")
    events = fleet.list_event_data(client.pane_id, "user_var")
    assert [(data["value"], data["proven"]) for data in events] == [
        ('{"port":80}', False),
        ("{}", False),
        ("{}", True),
        ('{"last":1}', False),
    ]
    assert {(data["kind"], data["source"]) for data in events} == {("ready", "stream")}
    assert nonce not in client.visor.run_checked("robot", "events", "--limit", "500")


def test_a_flood_of_user_variables_is_limited_and_counted(open_shell, fleet):
    client = open_shell()
    client.run_command("for i in {1..3000}; do printf '\\033]1337;SetUserVar=visor-x=MQ==\\a'; done")
    client.run_command("sleep 1.1; printf '\\033]1337;SetUserVar=visor-last=MQ==\\a'")
    events = fleet.list_event_data(client.pane_id, "user_var")
    assert events[-1]["name"] == "visor-last"
    assert len(events) < 200
    assert len(events) + sum(data.get("dropped", 0) for data in events) == 3001


def test_visor_event_reports_a_user_variable(open_shell, fleet):
    client = open_shell()
    value = base64.b64encode(b'{"step": 3}').decode()
    words = ("event", "--from-uservar", "--pane", str(client.pane_id), "--name", "visor-checkpoint", "--value", value)
    assert "not proven" in client.visor.run_checked(*words)
    (data,) = fleet.list_event_data(client.pane_id, "user_var")
    assert (data["kind"], data["value"], data["source"]) == ("checkpoint", '{"step":3}', "call")
