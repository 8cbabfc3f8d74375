"""Names are found in code by a program that may be missing; what a screen shows never becomes an option of it."""

import json
import os
from pathlib import Path

import pytest

from termvisor.daemon.code_search import LiveCode


def program(folder: Path, answer: str, name: str = "ast-grep", status: int = 0) -> dict[str, str]:
    """It says what the real one said, and writes down how it was called."""
    text = (
        f'#!/bin/sh\nif [ "$1" = --version ]; then echo "{name if name != "sg" else "ast-grep"} 0.51.0"; exit 0; fi\n'
        f'echo "$@" >> {folder}/calls\ncat {folder}/answer\nexit {status}\n'
    )
    (folder / "answer").write_text(answer)
    (folder / name).write_text(text)
    (folder / name).chmod(0o755)
    return {"PATH": f"{folder}:/usr/bin:/bin"}


def match(file: str, line: int, text: str) -> dict:
    return {
        "text": "parse_rule",
        "range": {"byteOffset": {"start": 1, "end": 2}, "start": {"line": line, "column": 4}, "end": {"line": line}},
        "file": file,
        "lines": text,
        "language": "Python",
    }


async def test_definitions_come_first_and_places_are_below_the_folder(tmp_path):
    found = [match("/src/a.py", 6, "    parse_rule(x)"), match("/src/b.py", 1, "def parse_rule(text):")]
    code = LiveCode(program(tmp_path, json.dumps(found)))
    told = await code.search(["parse_rule"], "/src")
    assert told.places == ("b.py:2: def parse_rule(text):", "a.py:7: parse_rule(x)")
    assert (tmp_path / "calls").read_text() == "run --json=compact --pattern parse_rule /src\n"


async def test_only_plain_names_are_looked_for_and_only_a_few(tmp_path):
    code = LiveCode(program(tmp_path, "[]"))
    await code.search(["--rewrite=x", "$(id)", "a b", "x", "one_name", "one_name", "two", "three", "four"], "/src")
    calls = (tmp_path / "calls").read_text().splitlines()
    assert [line.split()[3] for line in calls] == ["one_name", "two", "three"]
    assert (await code.search(["; rm"], "/src")).trouble == "there is no name to look for"


@pytest.mark.parametrize(
    ("answer", "status", "trouble"),
    [("{", 0, "no JSON"), ('[{"file": 3}]', 0, "no JSON"), ("[]", 2, "ast-grep")],
)
async def test_what_goes_wrong_is_said(tmp_path, answer, status, trouble):
    told = await LiveCode(program(tmp_path, answer, status=status)).search(["name"], "/src")
    assert (told.places, trouble in told.trouble) == ((), True)


async def test_nothing_found_is_no_trouble(tmp_path):
    told = await LiveCode(program(tmp_path, "[]", status=1)).search(["name"], "/src")
    assert (told.places, told.trouble) == ((), "")


async def test_a_missing_program_is_no_trouble_and_another_sg_is_not_taken_for_it(tmp_path):
    (tmp_path / "sg").write_text("#!/bin/sh\necho 'Usage: sg group [[-c] command]'\n")
    os.chmod(tmp_path / "sg", 0o755)
    told = await LiveCode({"PATH": str(tmp_path)}).search(["name"], "/src")
    assert told.trouble == "ast-grep is not installed, so no code was searched"


async def test_it_never_starts_where_a_project_could_set_it_up(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    around = program(tmp_path, "[]")
    (tmp_path / "ast-grep").write_text(
        (tmp_path / "ast-grep").read_text().replace("cat ", f"pwd > {tmp_path}/place; cat ")
    )
    await LiveCode(around).search(["parse_rule"], str(tmp_path))
    assert (tmp_path / "place").read_text() == "/\n"
