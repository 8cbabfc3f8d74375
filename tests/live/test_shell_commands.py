"""Real shells that were set up: what they run is known with its lines and its end, and nobody else is believed."""

import base64
from pathlib import Path

import pytest

from tests.live.conftest import run_watched_tmux
from tests.live.polling import wait_until
from tests.live.robot_call import call_robot
from tests.live.shell_setup import ShellHome, ShellPane

live = pytest.mark.live
SHELLS = ["bash", pytest.param("zsh", marks=live), pytest.param("fish", marks=live)]
EVIL = b"".join(
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
def sit(fleet, tmp_path):
    def opened(shell: str = "bash") -> "Person":
        return Person(fleet, ShellHome(tmp_path, shell).write_setup(fleet.visor.paths.nonce_file))

    return opened


class Person(ShellPane):
    """Asks the product what their shell did."""

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
    def story(self) -> list[tuple[str, str, int | None]]:
        return [(item["command"], item["status"], item["exit_code"]) for item in self.commands]

    def text(self, which: str = "last") -> list[str]:
        got = self.visor.call_robot("get-text", str(self.pane_id), "--command", which, "--numbers")
        return [*(line["text"] for line in got["lines"]), *filter(None, [got["pending"]])]

    def finished(self, *words: str) -> dict:
        return self.visor.call_robot(
            "wait-for", str(self.pane_id), "--command-finished", "--timeout-secs", "20", *words
        )

    def typed(self, line: str) -> dict:
        """As a program does it: take a cursor, type, wait; the command."""
        cursor = self.cursor
        self.type_line(line)
        return self.finished("--since", cursor)["command"]


@pytest.mark.parametrize("shell", SHELLS)
def test_what_is_typed_can_be_waited_for_and_its_output_read(sit, shell, tmp_path):
    one = sit(shell)
    (tmp_path / "a b").mkdir()
    done = one.typed("printf 'one\\ntwo\\n'")
    assert (done["command"], done["exit_code"], done["is_proven"]) == ("printf 'one\\ntwo\\n'", 0, True)
    assert one.text() == ["one", "two"]
    assert one.typed("sh -c 'echo three; exit 3'")["exit_code"] == 3
    assert one.text() == ["three"]
    one.typed("cd 'a b'")
    assert one.text() == []
    assert one.typed("true")["cwd"] == str(tmp_path / "a b")
    assert [item["exit_code"] for item in one.commands] == [0, 3, 0, 0]
    failed = one.visor.call_robot("commands", "--failed", "--pane", str(one.pane_id))["items"]
    assert [item["exit_code"] for item in failed] == [3]


def test_a_command_that_was_over_before_the_call_is_found_by_its_cursor(sit):
    one = sit()
    cursor = one.cursor
    one.run_lines("true", "sh -c 'exit 4'")
    first = one.finished("--since", cursor)
    assert (first["outcome"], first["command"]["command"]) == ("finished", "true")
    assert one.finished("--since", first["cursor"])["command"]["exit_code"] == 4


def test_what_runs_is_waited_for_and_its_text_is_there_meanwhile(sit):
    one = sit()
    one.type_line("echo begun; sleep 1000")
    wait_until(lambda: one.text() == ["begun"])
    assert one.story == [("echo begun; sleep 1000", "running", None)]
    one.press_keys("C-c")
    wait_until(lambda: one.story == [("echo begun; sleep 1000", "finished", 130)])
    assert one.text()[0] == "begun"


def test_enter_and_an_interrupted_prompt_are_no_commands(sit):
    one = sit()
    one.press_keys("Enter")
    one.press_keys("-l", "half a line")
    one.press_keys("C-c")
    assert one.typed("echo whole")["exit_code"] == 0
    assert one.story == [("echo whole", "finished", 0)]


def test_output_of_every_kind_has_its_edges(sit, tmp_path):
    one = sit()
    unended = one.typed("printf unended")
    wait_until(lambda: one.text() == ["unendedleft>"])
    one.typed("clear")
    assert one.text() == []
    one.typed("printf '\\033[?1049h\\033[2Jpainted\\n\\033[?1049l'; echo scrolled")
    assert one.text() == ["scrolled"]
    one.typed("seq 1 5000")
    whole = one.visor.call_robot("get-text", str(one.pane_id), "--command", "last", "--limit", "10000")
    assert whole["text"].split("\n") == [str(number) for number in range(1, 5001)]
    assert one.text(str(unended["id"])) == ["unendedleft> clear"]


def test_a_shell_in_a_shell_tells_its_own(sit):
    one = sit()
    one.type_line("bash -i")
    wait_until(lambda: one.activity["kind"] == "prompt" and one.story == [("bash -i", "running", None)])
    assert one.typed("sh -c 'exit 5'")["exit_code"] == 5
    assert one.story == [("bash -i", "running", None), ("sh -c 'exit 5'", "finished", 5)]
    one.type_line("exit 6")
    wait_until(lambda: one.story[0] == ("bash -i", "finished", 6))
    assert one.story[2] == ("exit 6", "lost", None)


def test_marks_in_a_hostile_file_start_and_end_nothing(sit, tmp_path):
    (tmp_path / "evil").write_bytes(EVIL + b"evil-was-shown\r\n" + EVIL)
    one = sit()
    one.typed("cat evil; sh -c 'exit 9'")
    assert one.story == [("cat evil; sh -c 'exit 9'", "finished", 9)]
    assert one.text() == ["evil-was-shown"]


def test_forged_marks_in_a_shell_without_proof_are_shown_as_unproven(fleet, shell):
    ours = str(fleet.find_pane_id(shell))
    fleet.tmux.type_line(shell, "printf '\\033]133;C;cmdline=forged\\a'; echo o''ut; printf '\\033]133;D;0\\a'")
    (item,) = wait_until(lambda: call_robot(fleet.visor, "commands", "--pane", ours, "--text", "forged")["items"])
    assert (item["status"], item["exit_code"], item["is_proven"]) == ("finished", 0, False)
    assert fleet.visor.call_robot("get-text", ours, "--command", "last")["text"] == "out"


@pytest.fixture
def shell(fleet):
    mux_id = fleet.tmux.start_session("plain", "sh")
    fleet.wait_until_captured(mux_id)
    return mux_id


def test_a_killed_daemon_loses_and_doubles_nothing(sit, tmp_path):
    one = sit()
    one.type_line("echo before; until [ -e go-on ]; do sleep 0.05; done; echo after; sh -c 'exit 7'")
    wait_until(lambda: one.text() == ["before"])
    one.visor.kill_daemon()
    (tmp_path / "go-on").touch()
    wait_until(lambda: [item["exit_code"] for item in one.commands] == [7])
    assert one.text() == ["before", "after"]
    assert one.typed("true")["id"] > one.commands[0]["id"]


def test_user_variables_are_events_and_only_the_nonce_proves_them(sit, fleet):
    one = sit()
    nonce = Path(one.visor.paths.nonce_file).read_text().strip()
    values = [b'{"port": 80}', b'{"nonce": "beef"}', b'{"nonce": "%s"}' % nonce.encode(), b"no json", b'{"last": 1}']
    for value in values:
        one.typed(f"printf '\\033]1337;SetUserVar=visor-ready=%s\\a' {base64.b64encode(value).decode()}")
    told = fleet.list_event_data(one.pane_id, "user_var")
    assert [(data["value"], data["proven"]) for data in told] == [
        ('{"port":80}', False),
        ("{}", False),
        ("{}", True),
        ('{"last":1}', False),
    ]
    assert {(data["kind"], data["source"]) for data in told} == {("ready", "stream")}
    assert nonce not in one.visor.run_checked("robot", "events", "--limit", "500")


def test_a_flood_of_user_variables_is_counted(sit, fleet):
    one = sit()
    one.typed("for i in {1..3000}; do printf '\\033]1337;SetUserVar=visor-x=MQ==\\a'; done")
    one.typed("sleep 1.1; printf '\\033]1337;SetUserVar=visor-last=MQ==\\a'")
    told = fleet.list_event_data(one.pane_id, "user_var")
    assert told[-1]["name"] == "visor-last"
    assert len(told) < 200
    assert len(told) + sum(data.get("dropped", 0) for data in told) == 3001


def test_a_hook_reports_what_it_heard(sit, fleet):
    one = sit()
    value = base64.b64encode(b'{"step": 3}').decode()
    words = ("event", "--from-uservar", "--pane", str(one.pane_id), "--name", "visor-checkpoint", "--value", value)
    assert "not proven" in one.visor.run_checked(*words)
    (data,) = fleet.list_event_data(one.pane_id, "user_var")
    assert (data["kind"], data["value"], data["source"]) == ("checkpoint", '{"step":3}', "call")
