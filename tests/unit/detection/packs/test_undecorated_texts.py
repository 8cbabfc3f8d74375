"""Known texts of agents match with and without the signs that some versions draw before them."""

import re

import pytest

from termvisor.detection.packs.loader import load_packs
from termvisor.detection.packs.rule_tester import try_rule

RULES = {rule.id: rule for rule in load_packs().rules}
DECORATED = (
    "claude.usage.warning",
    "claude.usage.reached",
    "claude.usage.reached_untimed",
    "claude.compaction",
    "codex.usage.warning_25",
    "codex.usage.warning_10",
    "codex.usage.warning_5",
    "codex.usage.reached",
    "codex.usage.reached_untimed",
    "gemini.usage.reached",
    "gemini.model.used",
)
EXAMPLES = [(name, hit.text) for name in DECORATED for hit in RULES[name].hits]
DECORATION = re.compile(r"^[\s\xa0]*(?:[⚠⎿■ℹ│✻✕●][\s\xa0]+|ERROR: )+|(?<=\S)\s*│\s*$")


@pytest.mark.parametrize(("name", "text"), EXAMPLES)
def test_an_example_matches_without_its_decoration(name, text):
    rule, bare = RULES[name], DECORATION.sub("", text)
    assert try_rule(rule, text).line is not None
    assert try_rule(rule, bare).captures == try_rule(rule, text).captures
    assert try_rule(rule, bare).line is not None


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("claude.usage.reached", "You've hit your limit · resets 3pm (Europe/Berlin)"),
        ("claude.compaction", "Conversation compacted · ctrl+o for history"),
        ("codex.usage.reached", "You've hit your usage limit. Upgrade to Pro or try again at 3:15 PM."),
        (
            "codex.usage.warning_25",
            "Heads up, you have less than 25% of your 5h limit left. Run /status for a breakdown.",
        ),
        ("gemini.usage.reached", "Usage limit reached for all Pro models"),
        ("gemini.model.used", "Responding with gemini-2.5-pro"),
    ],
)
def test_a_text_of_an_older_version_matches(name, text):
    assert try_rule(RULES[name], text).line is not None


@pytest.mark.parametrize("name", DECORATED)
def test_words_of_the_agent_itself_do_not_match(name):
    for _, text in [one for one in EXAMPLES if one[0] == name]:
        bare = DECORATION.sub("", text).strip()
        assert try_rule(RULES[name], f'• It prints "{bare}" then.').line is None
