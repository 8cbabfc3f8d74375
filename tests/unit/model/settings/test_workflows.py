"""Workflow modes in the settings."""

import pytest

from termvisor.errors import ConfigError
from termvisor.model.settings.workflows import (
    find_compaction_prompt,
    find_prompt_problem,
    parse_compaction_line,
    parse_mode_entry,
    resolve_workflow_mode,
)
from termvisor.settings import Settings, validate_settings


@pytest.mark.parametrize(
    ("modes", "mode"),
    [({}, "ask"), ({"a": "on"}, "on"), ({"*": "off"}, "off"), ({"*": "off", "a": "ask"}, "ask"), ({"b": "on"}, "ask")],
)
def test_mode_is_the_own_entry_then_the_wildcard_then_the_default(modes, mode):
    assert resolve_workflow_mode(modes, "a", "ask") == mode


def test_mode_entry_is_a_name_and_a_mode():
    assert [parse_mode_entry(entry) for entry in ("a=on", "*=off")] == [("a", "on"), ("*", "off")]


@pytest.mark.parametrize("entry", ["a", "a=maybe", "=on"])
def test_invalid_mode_entry_is_reported(entry):
    with pytest.raises(ValueError, match="mode"):
        parse_mode_entry(entry)


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ("claude_code", "agent :: prompt"),
        (":: hello", "agent :: prompt"),
        ("codex ::  ", "is empty"),
        ("codex :: /clear", "starts with '/'"),
        ("codex :: !rm x", "starts with '!'"),
        ("codex :: one\ntwo", "is not one line"),
        ("codex :: \x1b[31m", "is not one line"),
        ("codex :: " + "x" * 3000, "longer than 2000"),
    ],
)
def test_compaction_line_is_an_agent_and_plain_text(line, part):
    with pytest.raises(ConfigError, match=part):
        validate_settings({"compaction_prompts": [line]}, "config.toml")


def test_compaction_prompt_is_trimmed():
    assert parse_compaction_line("claude_code ::  Read: all of it. ") == ("claude_code", "Read: all of it.")


def test_prompt_of_the_agent_or_the_wildcard_is_used():
    settings = Settings(compaction_prompts={"codex": "one", "*": "two"})
    assert [find_compaction_prompt(settings, agent) for agent in ("codex", "gemini")] == ["one", "two"]
    assert find_compaction_prompt(Settings(), "codex") == ""


@pytest.mark.parametrize("values", [{"compaction_prompts": ["codex"]}, {"continue_prompt": "/clear"}])
def test_empty_settings_are_rejected(values):
    with pytest.raises(ConfigError, match="_prompt"):
        validate_settings(values, "config.toml")


def test_plain_prompt_has_no_problem():
    assert find_prompt_problem("proceed.") == ""
