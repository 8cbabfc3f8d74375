"""The first hour of a person at a real terminal, with the demo: reading first, and reading nothing."""

import re

import pytest

from termvisor.testing.visor_instance import VisorInstance
from tests.architecture.source import ROOT
from tests.architecture.test_docs import extract_code, extract_command_lines
from tests.live.person_terminal import PersonTerminal, open_person_terminal
from tests.live.polling import wait_until
from tests.live.robot_call import call_robot

pytestmark = pytest.mark.live
LAST = ["visor setup shell --remove", "visor down"]


def list_documented_commands() -> list[str]:
    """Return every command of README and quick start, in their order, each once; the last ones end the hour."""
    readme, quickstart = ((ROOT / page).read_text() for page in ("README.md", "docs/quickstart.md"))
    shown = re.findall(r"^\$ (visor [^#\n]+?) *(?:#.*)?$", "".join(extract_code(readme, "")), re.MULTILINE)
    listed = [
        code for line in re.findall(r"^(?:- |  )`visor .*", quickstart, re.MULTILINE) for code in _find_codes(line)
    ]
    blocks = [f"visor {line}" for page in (readme, quickstart) for line in extract_command_lines(page)]
    return [line for line in dict.fromkeys((*shown, *listed, *blocks)) if line not in LAST] + LAST


def _find_codes(line: str) -> list[str]:
    return re.findall(r"`(visor [^`]+)`", line)


@pytest.fixture
def person():
    with open_person_terminal(width=80) as opened:
        yield opened


def wait_for_demo(person: PersonTerminal) -> None:
    """Wait until the demo has asked for approval, and its build and its log have come to their end."""
    visor = person.visor
    wait_until(lambda: call_robot(visor, "inbox")["items"], timeout_s=30)
    for word in ("finished", "lighthouse", "FAILED"):
        wait_until(lambda word=word: visor.run("robot", "search", word)[0] == 0, timeout_s=30)


def shows_prompt(visor: VisorInstance, pane: str) -> bool:
    (item,) = call_robot(visor, "state", "--pane", pane)["items"]
    return item.get("activity", {}).get("kind") == "prompt"


def test_every_command_of_readme_and_quick_start_works_with_the_demo(person: PersonTerminal) -> None:
    commands = list_documented_commands()
    assert {"visor approve 1", "visor send 2 'write a test'", "visor up", *LAST} < set(commands)
    assert person.run("visor up --demo-if-empty --once")[0] == 0
    wait_for_demo(person)
    failed = {}
    for command in commands:
        status, screen = person.run(command)
        failed.update({command: screen.rstrip()} if status else {})
    assert failed == {}


def test_a_person_who_reads_nothing_finds_the_way(person: PersonTerminal) -> None:
    # Nothing runs yet: the bare command, the help and the first table all say what to do next.
    assert "visor up" in person.run("visor quick-start")[1]
    assert "visor help <command>" in person.run("visor help")[1]
    assert person.run("visor up --demo-if-empty")[0] == 0
    for wrong, words in (
        ("visor stauts", "Did you mean status"),
        ("visor send", "visor help"),
        ("visor send 99 hello", "to see all panes"),
        ("visor send 3 hello", "--program"),
        ("visor send 6 q", "--into-screen"),
        ("visor serch error", "Did you mean search"),
        ("visor help sned", "send"),
        ("visor get-text", "visor help"),
    ):
        status, screen = person.run(wrong)
        assert (wrong, status != 0, words in " ".join(screen.split())) == (wrong, True, True), screen
        assert (wrong, "Traceback" in screen) == (wrong, False)
    wait_until(lambda: shows_prompt(person.visor, "5"), timeout_s=30)
    status, screen = person.run("visor send 5 ls")
    assert (status != 0, "--at-prompt" in screen) == (True, True), screen
    status, screen = person.run("visor send 5 --dry-run ls")
    assert (status, "would not be executed" in screen) == (75, True)
    assert person.run("visor down")[0] == 0
