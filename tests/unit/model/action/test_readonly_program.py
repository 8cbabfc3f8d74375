"""Every lookup is one shape of words, and a word that could be an option is none of them."""

import pytest

from termvisor.model.action.readonly_program import CODE, FOLDER, HISTORY_BY_FOLDER, HISTORY_BY_ID, USAGE, lookup_of

FITTING = {
    CODE: ("ast-grep", "run", "--json=compact", "--pattern", "parse_rule", "--", "/src/a b"),
    HISTORY_BY_ID: ("cass", "query", "--session-id", "5e55", "--format", "json"),
    HISTORY_BY_FOLDER: ("cass", "search", "--path", "/home/me", "--agent", "claude_code", "--format", "json"),
    USAGE: ("/opt/bin/caut", "refresh", "--service", "openai", "--format", "json"),
}


@pytest.mark.parametrize("known", FITTING, ids=lambda one: " ".join(one.words[:2]))
def test_only_the_whole_shape_in_the_root_folder_is_a_lookup(known):
    argv = FITTING[known]
    assert lookup_of(argv, FOLDER) is known
    assert lookup_of(argv, "/home/me") is None
    assert lookup_of((*argv, "--more"), FOLDER) is None
    assert lookup_of(argv[:-1], FOLDER) is None
    changed = [(*argv[:at], "--evil", *argv[at + 1 :]) for at in range(len(argv))]
    assert {lookup_of(one, FOLDER) for one in changed} == {None}


def test_the_reference_shows_words_and_no_patterns():
    assert CODE.form == "ast-grep run --json=compact --pattern <name> -- <folder>"
    assert USAGE.form == "caut usage|refresh --service <service> --format json"
