"""Parsing of rule files, with the line and key of each problem."""

import os
from pathlib import Path

import pytest

from termvisor.detection.packs.lint import lint_rules
from termvisor.detection.packs.pack import RuleProblem
from termvisor.detection.packs.rule_file import (
    MAX_FILE_BYTES,
    DecodeProblem,
    describe_decode_error,
    find_line,
    read_rule,
    render_pack_file,
    render_rule_file,
)
from termvisor.model.detection.rule import Rule
from tests.unit.detection.packs.rule_factory import VALID_RULE


def read_text(tmp_path: Path, text: str) -> Rule | RuleProblem:
    file = tmp_path / "rule.toml"
    file.write_text(text)
    return read_rule(str(file), "org.local")


def test_a_file_becomes_a_rule(tmp_path: Path) -> None:
    rule = read_text(tmp_path, VALID_RULE)
    assert isinstance(rule, Rule)
    assert (rule.id, rule.pack, rule.hits[0].captures) == ("tool.limit.reached", "org.local", {"left": "3"})


@pytest.mark.parametrize(
    ("old", "new", "line", "key", "reason"),
    [
        ('why = "The tool stops."', 'wy = "The tool stops."', 9, "wy", "is unknown; did you mean why?"),
        ('why = "The tool stops."', "", None, "why", "is missing"),
        ('scope = "line"', 'scope = "row"', 4, "scope", "'row' is none of line, stream,"),
        ('severity = "warning"', "severity = 3", 7, "severity", "is a number, and must be a text in quotes"),
        ('anchors = ["limit"]', 'anchors = [""]', 5, "anchors", "matches everything"),
        ('event = "usage.reached"', 'event = "Limit"', 8, "event", "at least two words"),
        ('event = "usage.reached"', "", None, "event", "is missing"),
        ('event = "usage.reached"', 'event = "a.b"\npart = "last"', 9, "part", "of scope screen"),
        ('scope = "line"', 'scope = "screen"', None, "part", "is missing"),
        ('id = "tool.limit.reached"', 'id = "limit"', 2, "id", "joined by dots"),
        ('why = "The tool stops."', 'why = "x"\nconfidence = 2.0', 10, "confidence", "at most 1"),
        ('why = "The tool stops."', 'why = "x"\nagent = "codex"\nversions = "~1"', 11, "versions", "joined by commas"),
        ('why = "The tool stops."', 'why = "x"\nversions = ">1"', 10, "versions", "requires an agent"),
        ('why = "The tool stops."', 'why = "x"\ncooldown = -1', 10, "cooldown", "between 0"),
        ('why = "The tool stops."', 'why = "x"\nhits = []', 10, "hits", "[[hit]] tables"),
        ('why = "The tool stops."', 'why = "x"\npack = "core.codex"', 10, "pack", "pack.toml"),
        ("captures = {", "capture = {", 13, "hit", "`capture` is unknown; did you mean captures?"),
        ("captures = {", "zzz = {", 13, "hit", "expected one of: text, captures, version"),
        ('captures = { left = "3" }', "captures = { left = 3 }", 11, "hit", "a value of `captures` is a number"),
        ("[[hit]]", "[hit]", 11, "hit", "write [[hit]], with two brackets"),
        ('text = "he said', 'txt = "he said', 16, "miss", "`txt` is unknown; did you mean text?"),
        ('text = "he said: tool: limit reached, 3 left"', 'why = "x"', 15, "miss", "`text` is missing"),
        ('"he said: tool: limit reached, 3 left"', '""', 15, "miss", "has an empty text"),
        ('why = "The tool stops."', 'why = "x"\nstate = "busy"', 10, "state", "is none of error, waiting_approval"),
        ('why = "The tool stops."', 'why = "x"\ncooldown = "10m"', 10, "cooldown", "must be a number"),
        ('text = "tool: limit reached, 3 left"', 'text = "<fill in>"', 11, "hit", "filled in"),
        ('why = "The tool stops."', "why = ", 9, "", "is not valid TOML"),
    ],
)
def test_a_problem_has_its_line_and_key(
    tmp_path: Path, old: str, new: str, line: int | None, key: str, reason: str
) -> None:
    problem = read_text(tmp_path, VALID_RULE.replace(old, new, 1))
    assert isinstance(problem, RuleProblem)
    assert reason in problem.why
    assert (problem.line, problem.key) == (line, key)
    assert str(problem).startswith(f"{tmp_path}/rule.toml")


@pytest.mark.parametrize("name", ["hit", "miss"])
def test_a_rule_without_examples_is_refused(tmp_path: Path, name: str) -> None:
    head, _, rest = VALID_RULE.partition(f"[[{name}]]")
    problem = read_text(tmp_path, head + rest.partition("\n\n")[2])
    assert isinstance(problem, RuleProblem)
    assert (problem.key, "is missing" in problem.why) == (name, True)


def test_a_binary_file_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "latin.toml").write_bytes(b"why = '\xe9'")
    (tmp_path / "large.toml").write_bytes(b"#" * (MAX_FILE_BYTES + 1))
    problems = [str(read_rule(str(tmp_path / f"{name}.toml"), "p")) for name in ("latin", "large", "absent")]
    assert ["UTF-8" in problems[0], "larger" in problems[1], "cannot be read" in problems[2]] == [True, True, True]


def test_too_deep_nesting_is_a_problem(tmp_path: Path) -> None:
    assert isinstance(read_text(tmp_path, "a = " + "[" * 5000), RuleProblem)


def test_the_line_of_a_key_is_found_in_every_spelling() -> None:
    text = 'a = 1\n"b" = 2\n[[hit]]\n[details.x]'
    assert [find_line(key, text) for key in ("a", "b", "hit", "details", "c")] == [1, 2, 3, 4, None]


def test_the_invalid_one_of_several_tables_is_named(tmp_path: Path) -> None:
    """The problem names the table, not only that one is invalid."""
    more = VALID_RULE + "\n[[miss]]\ntext = 3\n"
    problem = read_text(tmp_path, more)
    assert isinstance(problem, RuleProblem)
    assert (problem.line, problem.why) == (18, "`text` is a number, and must be a text in quotes")


def test_a_named_pipe_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.toml")
    problem = str(read_rule(str(tmp_path / "pipe.toml"), "p"))
    assert problem.endswith("pipe.toml: cannot be read: not a regular file")
    assert "not a regular file" in str(read_rule("/dev/zero", "p"))


def test_a_byte_order_mark_is_accepted(tmp_path: Path) -> None:
    assert isinstance(read_text(tmp_path, "\ufeff" + VALID_RULE), Rule)


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (
            "Expected `str`, got `int` - at `$.hits[1].text`",
            DecodeProblem("hit", "`text` is a number, and must be a text in quotes", "hit", 1),
        ),
        (
            "Expected `str`, got `int` - at `$.misses[0].why`",
            DecodeProblem("miss", "`why` is a number, and must be a text in quotes", "miss", 0),
        ),
        (
            "Expected `array`, got `str` - at `$.anchors`",
            DecodeProblem("anchors", "is a text in quotes, and must be a list", "anchors"),
        ),
        (
            "Expected `str`, got `int` - at `$.anchors[2]`",
            DecodeProblem("anchors", "is a number, and must be a text in quotes", "anchors"),
        ),
        (
            "Object contains unknown field `patern` - at `$.unless[1]`",
            DecodeProblem("unless", "`patern` is unknown; did you mean pattern?", "patern"),
        ),
        ("Object missing required field `scope`", DecodeProblem("scope", "is missing", "scope")),
        (
            "Invalid enum value 'limited' - at `$.flag`",
            DecodeProblem("flag", "'limited' is none of usage_limited, compacting, auth_needed", "flag"),
        ),
        ("Something else - at `$.id`", DecodeProblem("id", "Something else", "id")),
    ],
)
def test_decode_errors_are_translated(error: str, message: DecodeProblem) -> None:
    assert describe_decode_error(error) == message


def test_a_new_rule_template_is_refused_until_it_is_filled_in(tmp_path: Path) -> None:
    (tmp_path / "pack.toml").write_text(render_pack_file("org.local"))
    file = tmp_path / "rule.toml"
    file.write_text(render_rule_file("deploy.rollout.stuck"))
    assert "pattern: is not filled in yet, nor is why, nor is hit, nor is miss" in str(
        lint_rules(str(file)).problems[0]
    )
    text = (
        render_rule_file("deploy.rollout.stuck")
        .replace('text = "<fill in>"', 'text = "gone: x"', 1)
        .replace('"<fill in>"', '"x"')
    )
    file.write_text(text.replace("^<fill in>", "^gone:").replace("<fill in>: ", ""))
    assert lint_rules(str(tmp_path)).problems == ()
