"""The hand-written pages: short, complete, and true of the product as it is."""

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
LATER = {"errors.py": {"inbox", "policy"}}
"""Hints of errors that nothing raises yet name commands that do not exist yet."""


def code(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def command_lines(text: str) -> list[str]:
    """What stands after `visor` in the shell examples of a page, without comments, pipes and redirections."""
    found = []
    for line in "".join(code(text, "sh")).splitlines():
        words = shlex.split(line, comments=True)
        end = next((at for at, word in enumerate(words) if word in ("|", ">", "&&", ";")), len(words))
        found += [shlex.join(words[1:end])] * (words[:1] == ["visor"])
    return found


def mentioned(text: str) -> set[str]:
    """The commands that running text names in backticks: the first word, for `robot` the second."""
    return set(re.findall(r"`visor (?:robot )?([a-z][a-z-]*)", text))


def complaint(line: str) -> str:
    """Why the product would not take this command line; empty when it would."""
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


def broken_links(page: str, text: str) -> list[str]:
    wrong = []
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        path, _, anchor = target.partition("#")
        file = (ROOT / page).parent / path if path else ROOT / page
        is_foreign = target.startswith(("https://", "mailto:"))
        if not is_foreign and not (file.exists() and (not anchor or anchor in anchors(file.read_text()))):
            wrong.append(f"{page}: {target}")
    return wrong


def anchors(text: str) -> set[str]:
    """The names that a heading gets as a link."""
    heads = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads}


def misnumbered(names: list[str]) -> list[str]:
    """Decisions are numbered from 0001 on, without a hole."""
    numbered = enumerate(sorted(names), 1)
    return [name for number, name in numbered if not re.fullmatch(rf"{number:04d}(-[a-z0-9]+)+\.md", name)]


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    assert broken_links(page, _text(page)) == []


@pytest.mark.parametrize("page", PAGES)
def test_command_lines_are_ones_that_the_product_takes(page: str) -> None:
    assert [why for line in command_lines(_text(page)) if (why := complaint(line))] == []


@pytest.mark.parametrize("page", PAGES)
def test_commands_named_in_the_text_exist(page: str) -> None:
    assert mentioned(_text(page)) - _known() == set()


def test_commands_named_in_messages_and_hints_exist() -> None:
    wrong = {}
    for module in modules():
        unknown = mentioned(module.text) - _known() - LATER.get(Path(module.path).name, set())
        wrong.update({module.path: unknown} if unknown else {})
    assert wrong == {}


def test_the_readme_is_short_and_shows_the_real_thing() -> None:
    text = _text("README.md")
    assert len(text.splitlines()) <= README_LINES
    assert text.count("<!-- fleet -->") == text.count("<!-- /fleet -->") == 1
    assert "make run" in text
    assert "make test" in text


def test_every_guide_is_there_and_the_readme_leads_to_it() -> None:
    assert [name for name in GUIDES if f"(docs/{name}.md)" not in _text("README.md")] == []


def test_decisions_are_numbered_listed_short_and_complete() -> None:
    names = _decisions()
    listed = _text("docs/decisions/README.md")
    assert misnumbered(names) == []
    assert [name for name in names if f"({name})" not in listed] == []
    for name in names:
        text = _text(f"docs/decisions/{name}")
        assert (name, re.findall(r"^## .*", text, re.MULTILINE)) == (name, HEADINGS)
        assert (name, len(text.splitlines()) <= DECISION_LINES) == (name, True)


def test_the_changelog_says_what_is_not_released_yet() -> None:
    assert re.search(r"^## \[Unreleased\]$", _text("CHANGELOG.md"), re.MULTILINE)


@pytest.mark.parametrize("path", sorted(ROOT.glob("examples/*.py")), ids=lambda path: path.name)
def test_an_example_calls_operations_that_exist(path: Path) -> None:
    called = set(re.findall(r"visor\.([a-z_]+)\(", path.read_text()))
    assert called
    assert called - set(catalog.OPERATION_NAMES) == set()


def test_a_broken_link_is_found() -> None:
    text = "[a](docs/nowhere.md) [b](LICENSE) [c](https://example.org) [d](docs/concepts.md#no-such-head)"
    assert broken_links("README.md", text) == ["README.md: docs/nowhere.md", "README.md: docs/concepts.md#no-such-head"]


def test_a_command_line_that_would_fail_is_found() -> None:
    assert complaint("serch error").startswith("serch error: ")
    assert complaint("get-text 7 --tale 5")
    assert complaint("up --demo-if-full")
    assert complaint("robot state --pane 7") == ""


def test_only_the_shell_examples_of_a_page_are_taken() -> None:
    text = (
        "`visor a`\n```sh\nvisor search 'x y'  # why\nvisor export 7 --text > file\nmake run\n```\n```\nvisor b\n```\n"
    )
    assert command_lines(text) == ["search 'x y'", "export 7 --text"]


def test_a_command_that_does_not_exist_is_found_in_running_text() -> None:
    assert mentioned("Run `visor robot state`, then `visor frobnicate --now` or `visor-x`.") == {"state", "frobnicate"}


def test_a_hole_in_the_numbers_is_found() -> None:
    assert misnumbered(["0001-a.md", "0003-b.md", "README.md"]) == ["0003-b.md", "README.md"]


def _known() -> set[str]:
    commands = {op.command.split()[0] for op in catalog.load_all_operations()}
    return {"robot", *LOCAL_COMMANDS, *commands, *catalog.COMMAND_ALIASES, *catalog.OPERATIONS_BY_ROBOT_NAME}


def _decisions() -> list[str]:
    return [path.name for path in (ROOT / "docs" / "decisions").iterdir() if path.name != "README.md"]


def _text(page: str) -> str:
    return (ROOT / page).read_text("utf-8")
