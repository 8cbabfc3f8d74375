"""A person is asked at their own terminal, and elsewhere: what they answer is what happens."""

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
# It asks for bracketed paste, shows the ends of what was pasted, and on Enter says how much it was; Ctrl-D ends it.


@pytest.fixture(scope="module")
def person():
    with run_watched_tmux() as scene, open_terminal_user(scene) as one:
        yield one


@pytest.mark.parametrize("keys", [("n", "Enter"), ("Enter",), ("C-d",), ("C-c",)], ids=["no", "enter", "end", "ctrl-c"])
def test_a_no_closes_the_question_and_nothing_is_done(person: TerminalUser, keys: tuple[str, ...]) -> None:
    text = f"echo never {keys[0]}"
    person.run_command(f"visor send {person.pane_id} {text}")
    person.answer_question(*keys)
    assert "echo speaks" in person.wait_for_text("Nothing was done.")
    assert person.list_questions()[text] == "denied"
    assert text not in person.shell_text


def test_a_yes_is_good_once(person: TerminalUser) -> None:
    person.run_command(f"visor send {person.pane_id} echo once")
    person.answer_question("y", "Enter")
    person.wait_for_text("delivered")
    assert person.list_questions()["echo once"] == "used"
    person.run_command(f"visor send {person.pane_id} echo once")
    person.answer_question("n", "Enter")
    person.wait_for_text("Nothing was done.")


def test_a_yes_for_the_session_is_listed_and_can_be_taken_back(person: TerminalUser) -> None:
    person.run_command(f"visor send {person.pane_id} echo for long")
    person.answer_question("s", "Enter")
    person.wait_for_text("delivered")
    (permit,) = person.visor.call_robot("list-permits")["items"]
    assert (permit["kind"], permit["pane"]) == ("send_text", person.pane_id)
    person.run_command(f"visor send {person.pane_id} echo unasked")
    assert "Allow it?" not in person.wait_for_text("delivered")
    person.run_command(f"visor permits; visor revoke-permit {permit['id']}")
    person.wait_for_text(f"permit {permit['id']} revoked")
    person.run_command(f"visor send {person.pane_id} echo asked again")
    person.answer_question("n", "Enter")
    person.wait_for_text("Nothing was done.")


def test_an_edited_text_is_a_new_action(person: TerminalUser) -> None:
    person.run_command(f"visor send {person.pane_id} echo in words")
    person.answer_question("e", "Enter")
    person.wait_for_text("delivered")
    assert "printf in words" in person.shell_text
    assert person.list_questions()["echo in words"] == "edited"


def test_an_edited_text_is_judged_from_the_start(person: TerminalUser) -> None:
    person.run_command(f"VISUAL= EDITOR='sed -i s/first/second/' visor send {person.pane_id} echo first")
    person.answer_question("e", "Enter")
    person.wait_for_text("type 'echo second'")
    person.answer_question("n", "Enter")
    person.wait_for_text("Nothing was done.")
    assert {"echo first": "edited", "echo second": "denied"}.items() <= person.list_questions().items()


def test_without_an_editor_a_text_is_edited_on_one_line(person: TerminalUser) -> None:
    person.run_command(f"VISUAL= EDITOR= visor send {person.pane_id} echo lin")
    person.answer_question("e", "Enter")
    person.wait_for_text("new text: echo lin")
    person.press_keys("e", "Enter")
    person.wait_for_text("type 'echo line'")
    person.answer_question("n", "Enter")
    person.wait_for_text("Nothing was done.")


def waiting(person: TerminalUser, text: str) -> tuple[threading.Thread, list[dict]]:
    """A robot that asks and waits for the answer."""
    heard: list[dict] = []
    words = ("robot", "send", str(person.pane_id), "--wait-answer-secs", "60", text)
    thread = threading.Thread(target=lambda: heard.append(msgspec.json.decode(person.visor.run(*words)[1])))
    thread.start()
    return thread, heard


@pytest.mark.parametrize(
    ("words", "typed"), [("printf other", "printf other"), ("", "printf deploy")], ids=["words", "editor"]
)
def test_a_robot_that_waits_hears_that_a_person_did_something_else(
    person: TerminalUser, words: str, typed: str
) -> None:
    text = "echo deploy" + "!" * (not words)
    thread, heard = waiting(person, text)
    person.run_command(f"visor approve {person.find_question(text)} --edit {words}")
    person.wait_for_text("edited; your text: delivered")
    thread.join()
    details = heard[0]["error"]["details"]
    assert (heard[0]["error"]["code"], details["why"]) == ("policy_denied", "edited")
    story = [
        item for item in person.visor.call_robot("audit")["items"] if item["correlation"] == details["correlation"]
    ]
    assert [item["stage"] for item in story] == ["asked", "answered", "intent", "outcome"]
    assert typed in story[-1]["what"]


def test_one_user_cannot_be_two_people(person: TerminalUser) -> None:
    person.run_command(f"visor send {person.pane_id} deploy now")
    person.answer_question("y", "Enter")
    person.wait_for_text("requires approval by 2 people, has 1")
    number = person.find_question("deploy now")
    person.run_command(f"visor approve {number} --session")
    person.wait_for_text("1 of 2 approvals; another person must approve it")
    assert person.visor.call_robot("list-permits")["items"] == []
    person.run_command(f"visor deny {number}")
    person.wait_for_text("denied")
    assert "deploy now" not in person.shell_text


def test_a_text_comes_from_a_pipe_and_the_question_goes_to_the_terminal(person: TerminalUser) -> None:
    person.run_command(f"printf 'echo piped\\n' | visor send {person.pane_id} -")
    person.answer_question("y", "Enter")
    person.wait_for_text("delivered")
    assert "$ echo piped" in person.shell_text


def test_a_file_of_several_lines_is_one_command(person: TerminalUser) -> None:
    with open(f"{person.folder}/loop", "w", encoding="ascii") as file:
        file.write("for i in 1 2; do\n  printf 'turn %s\\n' $i\ndone\n")
    person.run_command(f"visor send {person.pane_id} --file {person.folder}/loop")
    person.wait_for_text("delivered")
    wait_until(lambda: "turn 1" in person.shell_text and "turn 2" in person.shell_text)


def test_a_text_of_a_megabyte_arrives_to_the_byte(person: TerminalUser) -> None:
    draw = random.Random(5)
    text = "begin " + "".join(draw.choices("abcdefgh é\n", k=880_000)) + " end"
    for name, content in (("big", text + "\n"), ("reader", READER)):
        with open(f"{person.folder}/{name}", "w", encoding="utf-8") as file:
            file.write(content)
    person.run_command(f"visor send {person.pane_id} {sys.executable} {person.folder}/reader")
    person.wait_for_text("delivered")
    try:
        wait_until(lambda: person.shell_text.rstrip().endswith("\n>"))
        person.type_command(f"visor send {person.pane_id} --program --file {person.folder}/big")
        person.wait_for_text("delivered")
        data = text.encode()
        assert len(data) > 900_000
        assert f"got {len(data)} {hashlib.blake2b(data, digest_size=6).hexdigest()}" in person.shell_text
    finally:
        person.press_keys_in_shell("C-d")
