"""Approvals by a user at a terminal: prompt, inbox, edited texts and permits."""

import hashlib
import random
import sys
import threading

import msgspec
import pytest

from tests.live.conftest import run_watched_tmux
from tests.live.polling import wait_until
from tests.live.terminal_user import TerminalUser, open_terminal_user

READER = r"""
import hashlib, os, termios, tty
before = termios.tcgetattr(0)
tty.setraw(0)
os.write(1, b"\x1b[?2004h> ")
data = b""
while not data.endswith(b"\x04"):
    data += os.read(0, 1 << 16)
    text, _, rest = data.partition(b"\x1b[200~")[2].partition(b"\x1b[201~")
    if data.endswith(b"\x1b[201~"):
        shown = text[:45] + "…".encode() + text[-45:]
        os.write(1, b"\r\x1b[2K> " + shown.replace(b"\n", b" "))
    if rest == b"\r":
        digest = hashlib.blake2b(text, digest_size=6).hexdigest()
        os.write(1, b"\r\ngot %d %s\r\n> " % (len(text), digest.encode()))
        data = b""
os.write(1, b"\x1b[?2004l")
termios.tcsetattr(0, termios.TCSADRAIN, before)
"""
# Enables bracketed paste, shows both ends of the pasted text, and on Enter prints its size and digest; Ctrl-D exits.


@pytest.fixture(scope="module")
def user():
    with run_watched_tmux() as scene, open_terminal_user(scene) as one:
        yield one


@pytest.mark.parametrize("keys", [("n", "Enter"), ("Enter",), ("C-d",), ("C-c",)], ids=["no", "enter", "end", "ctrl-c"])
def test_denying_at_the_prompt_closes_the_request_without_an_action(user: TerminalUser, keys: tuple[str, ...]) -> None:
    text = f"echo never {keys[0]}"
    user.run_command(f"visor send {user.pane_id} {text}")
    user.answer_prompt(*keys)
    assert "echo speaks" in user.wait_for_text("Nothing was done.")
    assert user.list_request_states()[text] == "denied"
    assert text not in user.shell_text


def test_an_approval_is_used_once(user: TerminalUser) -> None:
    user.run_command(f"visor send {user.pane_id} echo once")
    user.answer_prompt("y", "Enter")
    user.wait_for_text("delivered")
    assert user.list_request_states()["echo once"] == "used"
    user.run_command(f"visor send {user.pane_id} echo once")
    user.answer_prompt("n", "Enter")
    user.wait_for_text("Nothing was done.")


def test_a_session_permit_is_listed_and_can_be_revoked(user: TerminalUser) -> None:
    user.run_command(f"visor send {user.pane_id} echo for long")
    user.answer_prompt("s", "Enter")
    user.wait_for_text("delivered")
    (permit,) = user.visor.call_robot("list-permits")["items"]
    assert (permit["kind"], permit["pane"]) == ("send_text", user.pane_id)
    user.run_command(f"visor send {user.pane_id} echo unasked")
    assert "Allow it?" not in user.wait_for_text("delivered")
    user.run_command(f"visor permits; visor revoke-permit {permit['id']}")
    user.wait_for_text(f"permit {permit['id']} revoked")
    user.run_command(f"visor send {user.pane_id} echo asked again")
    user.answer_prompt("n", "Enter")
    user.wait_for_text("Nothing was done.")


def test_an_edited_text_replaces_the_action(user: TerminalUser) -> None:
    user.run_command(f"visor send {user.pane_id} echo in words")
    user.answer_prompt("e", "Enter")
    user.wait_for_text("delivered")
    assert "printf in words" in user.shell_text
    assert user.list_request_states()["echo in words"] == "edited"


def test_an_edited_text_is_checked_by_the_policy_again(user: TerminalUser) -> None:
    user.run_command(f"VISUAL= EDITOR='sed -i s/first/second/' visor send {user.pane_id} echo first")
    user.answer_prompt("e", "Enter")
    user.wait_for_text("type 'echo second'")
    user.answer_prompt("n", "Enter")
    user.wait_for_text("Nothing was done.")
    assert {"echo first": "edited", "echo second": "denied"}.items() <= user.list_request_states().items()


def test_without_an_editor_a_text_is_edited_on_one_line(user: TerminalUser) -> None:
    user.run_command(f"VISUAL= EDITOR= visor send {user.pane_id} echo lin")
    user.answer_prompt("e", "Enter")
    user.wait_for_text("new text: echo lin")
    user.press_keys("e", "Enter")
    user.wait_for_text("type 'echo line'")
    user.answer_prompt("n", "Enter")
    user.wait_for_text("Nothing was done.")


def send_and_wait(user: TerminalUser, text: str) -> tuple[threading.Thread, list[dict]]:
    """Send as a robot in a thread that waits for the answer."""
    responses: list[dict] = []
    words = ("robot", "send", str(user.pane_id), "--wait-answer-secs", "60", text)
    thread = threading.Thread(target=lambda: responses.append(msgspec.json.decode(user.visor.run(*words)[1])))
    thread.start()
    return thread, responses


@pytest.mark.parametrize(
    ("words", "typed"), [("printf other", "printf other"), ("", "printf deploy")], ids=["words", "editor"]
)
def test_a_waiting_robot_is_denied_when_a_user_edits_the_text(user: TerminalUser, words: str, typed: str) -> None:
    text = "echo deploy" + "!" * (not words)
    thread, responses = send_and_wait(user, text)
    user.run_command(f"visor approve {user.find_request(text)} --edit {words}")
    user.wait_for_text("edited; your text: delivered")
    thread.join()
    details = responses[0]["error"]["details"]
    assert (responses[0]["error"]["code"], details["why"]) == ("policy_denied", "edited")
    entries = [
        item for item in user.visor.call_robot("audit")["items"] if item["correlation"] == details["correlation"]
    ]
    assert [item["stage"] for item in entries] == ["asked", "answered", "intent", "outcome"]
    assert typed in entries[-1]["what"]


def test_what_two_people_must_approve_is_denied_because_there_is_one_user(user: TerminalUser) -> None:
    user.run_command(f"visor send {user.pane_id} deploy now")
    user.wait_for_text("two people must approve this")
    assert "deploy now" not in user.shell_text


def test_a_piped_text_is_approved_at_the_terminal(user: TerminalUser) -> None:
    user.run_command(f"printf 'echo piped\\n' | visor send {user.pane_id} -")
    user.answer_prompt("y", "Enter")
    user.wait_for_text("delivered")
    assert "$ echo piped" in user.shell_text


def test_a_multi_line_file_is_sent_as_one_command(user: TerminalUser) -> None:
    with open(f"{user.folder}/loop", "w", encoding="ascii") as file:
        file.write("for i in 1 2; do\n  printf 'turn %s\\n' $i\ndone\n")
    user.run_command(f"visor send {user.pane_id} --file {user.folder}/loop")
    user.wait_for_text("delivered")
    wait_until(lambda: "turn 1" in user.shell_text and "turn 2" in user.shell_text)


def test_a_text_of_a_megabyte_is_delivered_to_the_byte(user: TerminalUser) -> None:
    rng = random.Random(5)
    text = "begin " + "".join(rng.choices("abcdefgh é\n", k=880_000)) + " end"
    for name, content in (("big", text + "\n"), ("reader", READER)):
        with open(f"{user.folder}/{name}", "w", encoding="utf-8") as file:
            file.write(content)
    user.run_command(f"visor send {user.pane_id} {sys.executable} {user.folder}/reader")
    user.wait_for_text("delivered")
    try:
        wait_until(lambda: user.shell_text.rstrip().endswith("\n>"))
        user.type_command(f"visor send {user.pane_id} --program --file {user.folder}/big")
        user.wait_for_text("delivered")
        data = text.encode()
        assert len(data) > 900_000
        assert f"got {len(data)} {hashlib.blake2b(data, digest_size=6).hexdigest()}" in user.shell_text
    finally:
        user.press_keys_in_shell("C-d")
