import pytest

from termvisor.errors import ConfigError
from termvisor.model.settings.limits_and_compaction import (
    find_compaction_line_problem,
    find_compaction_prompt,
    find_prompt_problem,
)
from termvisor.settings import Settings, validate_settings


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ("claude_code :: Read NOTES.md again.", ""),
        ("* :: Read: all of it.", ""),
        ("claude_code", "agent :: words"),
        (":: hello", "agent :: words"),
        ("codex ::  ", "says nothing"),
        ("codex :: /clear", "begins with '/'"),
        ("codex :: !rm x", "begins with '!'"),
        ("codex :: one\ntwo", "more than one line"),
        ("codex :: \x1b[31m", "more than one line"),
        ("codex :: " + "x" * 3000, "longer than 2000"),
    ],
)
def test_a_line_of_prompts_is_an_agent_and_plain_words(line, part):
    assert part in find_compaction_line_problem(line)
    assert bool(part) == bool(find_compaction_line_problem(line))


def test_an_agent_hears_its_own_words_or_those_for_all():
    settings = Settings(compaction_prompts=("codex :: one", "* :: two"))
    assert [find_compaction_prompt(settings, agent) for agent in ("codex", "gemini")] == ["one", "two"]
    assert find_compaction_prompt(Settings(), "codex") == ""


@pytest.mark.parametrize("values", [{"compaction_prompts": ["codex"]}, {"continue_prompt": "/clear"}])
def test_settings_that_say_nothing_are_refused(values):
    with pytest.raises(ConfigError, match="_prompt"):
        validate_settings(values, "config.toml")


def test_plain_words_are_no_complaint():
    assert find_prompt_problem("proceed.") == ""
