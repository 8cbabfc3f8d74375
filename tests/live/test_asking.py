"""A person is asked at their own terminal, and elsewhere: what they answer is what happens."""

import hashlib
import random
import sys
import threading

import msgspec
import pytest

from tests.live.conftest import watched_tmux
from tests.live.person import Person, seated
from tests.live.waiting import until

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
    with watched_tmux() as scene, seated(scene) as one:
        yield one


@pytest.mark.parametrize("keys", [("n", "Enter"), ("Enter",), ("C-d",), ("C-c",)], ids=["no", "enter", "end", "ctrl-c"])
def test_a_no_closes_the_question_and_nothing_is_done(person: Person, keys: tuple[str, ...]) -> None:
    text = f"echo never {keys[0]}"
    person.run(f"visor send {person.pane} {text}")
    person.answers(*keys)
    assert "echo speaks" in person.sees("Nothing was done.")
    assert person.questions()[text] == "denied"
    assert text not in person.watched


def test_a_yes_is_good_once(person: Person) -> None:
    person.run(f"visor send {person.pane} echo once")
    person.answers("y", "Enter")
    person.sees("delivered")
    assert person.questions()["echo once"] == "used"
    person.run(f"visor send {person.pane} echo once")
    person.answers("n", "Enter")
    person.sees("Nothing was done.")


def test_a_yes_for_the_session_is_listed_and_can_be_taken_back(person: Person) -> None:
    person.run(f"visor send {person.pane} echo for long")
    person.answers("s", "Enter")
    person.sees("delivered")
    (permit,) = person.visor.robot("list-permits")["items"]
    assert (permit["kind"], permit["pane"]) == ("send_text", person.pane)
    person.run(f"visor send {person.pane} echo unasked")
    assert "Allow it?" not in person.sees("delivered")
    person.run(f"visor permits; visor revoke-permit {permit['id']}")
    person.sees(f"permit {permit['id']} no longer holds")
    person.run(f"visor send {person.pane} echo asked again")
    person.answers("n", "Enter")
    person.sees("Nothing was done.")


def test_an_edited_text_is_a_new_action(person: Person) -> None:
    person.run(f"visor send {person.pane} echo in words")
    person.answers("e", "Enter")
    person.sees("delivered")
    assert "printf in words" in person.watched
    assert person.questions()["echo in words"] == "edited"


def test_an_edited_text_is_judged_from_the_start(person: Person) -> None:
    person.run(f"VISUAL= EDITOR='sed -i s/first/second/' visor send {person.pane} echo first")
    person.answers("e", "Enter")
    person.sees("type 'echo second'")
    person.answers("n", "Enter")
    person.sees("Nothing was done.")
    assert {"echo first": "edited", "echo second": "denied"}.items() <= person.questions().items()


def test_without_an_editor_a_text_is_edited_on_one_line(person: Person) -> None:
    person.run(f"VISUAL= EDITOR= visor send {person.pane} echo lin")
    person.answers("e", "Enter")
    person.sees("new text: echo lin")
    person.press("e", "Enter")
    person.sees("type 'echo line'")
    person.answers("n", "Enter")
    person.sees("Nothing was done.")


def waiting(person: Person, text: str) -> tuple[threading.Thread, list[dict]]:
    """A robot that asks and waits for the answer."""
    heard: list[dict] = []
    words = ("robot", "send", str(person.pane), "--wait-answer-secs", "60", text)
    thread = threading.Thread(target=lambda: heard.append(msgspec.json.decode(person.visor.run(*words)[1])))
    thread.start()
    return thread, heard


@pytest.mark.parametrize(
    ("words", "typed"), [("printf other", "printf other"), ("", "printf deploy")], ids=["words", "editor"]
)
def test_a_robot_that_waits_hears_that_a_person_did_something_else(person: Person, words: str, typed: str) -> None:
    text = "echo deploy" + "!" * (not words)
    thread, heard = waiting(person, text)
    person.run(f"visor approve {person.number_of(text)} --edit {words}")
    person.sees("is edited; your text: delivered")
    thread.join()
    details = heard[0]["error"]["details"]
    assert (heard[0]["error"]["code"], details["why"]) == ("policy_denied", "edited")
    story = [item for item in person.visor.robot("audit")["items"] if item["correlation"] == details["correlation"]]
    assert [item["stage"] for item in story] == ["asked", "answered", "intent", "outcome"]
    assert typed in story[-1]["what"]


def test_one_user_cannot_be_two_people(person: Person) -> None:
    person.run(f"visor send {person.pane} deploy now")
    person.answers("y", "Enter")
    person.sees("2 people must allow this first, 1 did")
    number = person.number_of("deploy now")
    person.run(f"visor approve {number} --session")
    person.sees("1 of 2 people said yes; it needs another person")
    assert person.visor.robot("list-permits")["items"] == []
    person.run(f"visor deny {number}")
    person.sees("is denied")
    assert "deploy now" not in person.watched


def test_a_text_comes_from_a_pipe_and_the_question_goes_to_the_terminal(person: Person) -> None:
    person.run(f"printf 'echo piped\\n' | visor send {person.pane} -")
    person.answers("y", "Enter")
    person.sees("delivered")
    assert "$ echo piped" in person.watched


def test_a_file_of_several_lines_is_one_command(person: Person) -> None:
    with open(f"{person.folder}/loop", "w", encoding="ascii") as file:
        file.write("for i in 1 2; do\n  printf 'turn %s\\n' $i\ndone\n")
    person.run(f"visor send {person.pane} --file {person.folder}/loop")
    person.sees("delivered")
    until(lambda: "turn 1" in person.watched and "turn 2" in person.watched)


def test_a_text_of_a_megabyte_arrives_to_the_byte(person: Person) -> None:
    draw = random.Random(5)
    text = "begin " + "".join(draw.choices("abcdefgh é\n", k=880_000)) + " end"
    for name, content in (("big", text + "\n"), ("reader", READER)):
        with open(f"{person.folder}/{name}", "w", encoding="utf-8") as file:
            file.write(content)
    person.run(f"visor send {person.pane} {sys.executable} {person.folder}/reader")
    person.sees("delivered")
    try:
        until(lambda: person.watched.rstrip().endswith("\n>"))
        person.type(f"visor send {person.pane} --program --file {person.folder}/big")
        person.sees("delivered")
        data = text.encode()
        assert len(data) > 900_000
        assert f"got {len(data)} {hashlib.blake2b(data, digest_size=6).hexdigest()}" in person.watched
    finally:
        person.press_there("C-d")
