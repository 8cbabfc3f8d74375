"""Hand-written pages are short and complete, and their links and commands work."""

import re
import shlex
from pathlib import Path

import pytest

from termvisor.errors import VisorError
from termvisor.frontends.cli.local_commands import LOCAL_COMMANDS
from termvisor.ops.api import catalog
from termvisor.ops.api.arguments import parse_arguments
from tests.architecture.source import ROOT, modules

README_LINES, DECISION_LINES = 150, 60
GUIDES = ("quickstart", "concepts", "operations", "extend")
HEADINGS = ["## Situation", "## Decision", "## Cost", "## What would change our mind"]
FOLDERS = ("", "docs/", "docs/decisions/", "examples/")
PAGES = [path.relative_to(ROOT).as_posix() for folder in FOLDERS for path in sorted(ROOT.glob(f"{folder}*.md"))]


def extract_code(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def extract_command_lines(text: str) -> list[str]:
    """Return the arguments of `visor` in the shell examples of a page, without comments, pipes and redirections."""
    found = []
    for line in "".join(extract_code(text, "sh")).splitlines():
        words = shlex.split(line, comments=True)
        end = next((at for at, word in enumerate(words) if word in ("|", ">", "&&", ";")), len(words))
        found += [shlex.join(words[1:end])] * (words[:1] == ["visor"])
    return found


def find_mentioned_commands(text: str) -> set[str]:
    """Return the commands that running text names in backticks: the first word, for `robot` the second."""
    return set(re.findall(r"`visor (?:robot )?([a-z][a-z-]*)", text))


def find_command_error(line: str) -> str:
    """Return why a command line is invalid, or an empty string."""
    words = shlex.split(line)
    try:
        if words[:1] and words[0] in LOCAL_COMMANDS:
            parse_arguments(LOCAL_COMMANDS[words[0]].Input, words[1:])
        else:
            is_robot = words[:1] == ["robot"]
            op, rest = catalog.find_operation(words[is_robot:], is_robot)
            parse_arguments(op.args_type, rest)
    except VisorError as error:
        return f"{line}: {error.message}"
    return ""


def find_broken_links(page: str, text: str) -> list[str]:
    wrong = []
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        path, _, anchor = target.partition("#")
        file = (ROOT / page).parent / path if path else ROOT / page
        is_foreign = target.startswith(("https://", "mailto:"))
        if not is_foreign and not (file.exists() and (not anchor or anchor in list_anchors(file.read_text()))):
            wrong.append(f"{page}: {target}")
    return wrong


def list_anchors(text: str) -> set[str]:
    """Return the link anchors of the headings."""
    heads = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads}


def find_misnumbered(names: list[str]) -> list[str]:
    """Return the decisions that break the numbering from 0001 on."""
    numbered = enumerate(sorted(names), 1)
    return [name for number, name in numbered if not re.fullmatch(rf"{number:04d}(-[a-z0-9]+)+\.md", name)]


@pytest.mark.parametrize("page", PAGES)
def test_links_are_valid(page: str) -> None:
    assert find_broken_links(page, _text(page)) == []


@pytest.mark.parametrize("page", PAGES)
def test_command_lines_are_valid(page: str) -> None:
    assert [why for line in extract_command_lines(_text(page)) if (why := find_command_error(line))] == []


@pytest.mark.parametrize("page", PAGES)
def test_commands_named_in_the_text_exist(page: str) -> None:
    assert find_mentioned_commands(_text(page)) - _known() == set()


def test_commands_named_in_messages_and_hints_exist() -> None:
    wrong = {}
    for module in modules():
        unknown = find_mentioned_commands(module.text) - _known()
        wrong.update({module.path: unknown} if unknown else {})
    assert wrong == {}


def test_the_readme_is_short_and_shows_the_real_thing() -> None:
    text = _text("README.md")
    assert len(text.splitlines()) <= README_LINES
    assert text.count("<!-- fleet -->") == text.count("<!-- /fleet -->") == 1
    assert "make run" in text
    assert "make test" in text


def test_the_readme_links_every_guide() -> None:
    assert [name for name in GUIDES if f"(docs/{name}.md)" not in _text("README.md")] == []


def test_decisions_are_numbered_listed_short_and_complete() -> None:
    names = _decisions()
    listed = _text("docs/decisions/README.md")
    assert find_misnumbered(names) == []
    assert [name for name in names if f"({name})" not in listed] == []
    for name in names:
        text = _text(f"docs/decisions/{name}")
        assert (name, re.findall(r"^## .*", text, re.MULTILINE)) == (name, HEADINGS)
        assert (name, len(text.splitlines()) <= DECISION_LINES) == (name, True)


def test_the_changelog_has_an_unreleased_section() -> None:
    assert re.search(r"^## \[Unreleased\]$", _text("CHANGELOG.md"), re.MULTILINE)


@pytest.mark.parametrize("path", sorted(ROOT.glob("examples/*.py")), ids=lambda path: path.name)
def test_an_example_calls_operations_that_exist(path: Path) -> None:
    called = set(re.findall(r"visor\.([a-z_]+)\(", path.read_text()))
    assert called
    assert called - set(catalog.OPERATION_NAMES) == set()


def test_a_broken_link_is_found() -> None:
    text = "[a](docs/nowhere.md) [b](LICENSE) [c](https://example.org) [d](docs/concepts.md#no-such-head)"
    assert find_broken_links("README.md", text) == [
        "README.md: docs/nowhere.md",
        "README.md: docs/concepts.md#no-such-head",
    ]


def test_a_command_line_that_would_fail_is_found() -> None:
    assert find_command_error("serch error").startswith("serch error: ")
    assert find_command_error("get-text 7 --tale 5")
    assert find_command_error("up --demo-if-full")
    assert find_command_error("robot state --pane 7") == ""


def test_only_the_shell_examples_of_a_page_are_taken() -> None:
    text = (
        "`visor a`\n```sh\nvisor search 'x y'  # why\nvisor export 7 --text > file\nmake run\n```\n```\nvisor b\n```\n"
    )
    assert extract_command_lines(text) == ["search 'x y'", "export 7 --text"]


def test_a_command_that_does_not_exist_is_found_in_running_text() -> None:
    assert find_mentioned_commands("Run `visor robot state`, then `visor frobnicate --now` or `visor-x`.") == {
        "state",
        "frobnicate",
    }


def test_a_gap_in_the_numbering_is_found() -> None:
    assert find_misnumbered(["0001-a.md", "0003-b.md", "README.md"]) == ["0003-b.md", "README.md"]


def _known() -> set[str]:
    commands = {op.command.split()[0] for op in catalog.load_all_operations()}
    return {"robot", *LOCAL_COMMANDS, *commands, *catalog.COMMAND_ALIASES, *catalog.OPERATIONS_BY_ROBOT_NAME}


def _decisions() -> list[str]:
    return [path.name for path in (ROOT / "docs" / "decisions").iterdir() if path.name != "README.md"]


def _text(page: str) -> str:
    return (ROOT / page).read_text("utf-8")
