"""Read-only programs accept exactly their declared arguments, and no argument can become an option."""

import pytest

from termvisor.model.action.readonly_program import (
    ACCOUNT_USAGE,
    CODE_SEARCH,
    READONLY_CWD,
    SESSION_BY_ID,
    SESSIONS_BY_FOLDER,
    find_readonly_program,
)

FITTING = {
    CODE_SEARCH: ("ast-grep", "run", "--json=compact", "--pattern", "parse_rule", "--", "/src/a b"),
    SESSION_BY_ID: ("cass", "query", "--session-id", "5e55", "--format", "json"),
    SESSIONS_BY_FOLDER: ("cass", "search", "--path", "/home/me", "--agent", "claude_code", "--format", "json"),
    ACCOUNT_USAGE: ("/opt/bin/caut", "refresh", "--service", "openai", "--format", "json"),
}


@pytest.mark.parametrize("known", FITTING, ids=lambda one: " ".join(one.argv_patterns[:2]))
def test_only_the_exact_arguments_in_the_root_folder_match(known):
    argv = FITTING[known]
    assert find_readonly_program(argv, READONLY_CWD) is known
    assert find_readonly_program(argv, "/home/me") is None
    assert find_readonly_program((*argv, "--more"), READONLY_CWD) is None
    assert find_readonly_program(argv[:-1], READONLY_CWD) is None
    changed = [(*argv[:at], "--evil", *argv[at + 1 :]) for at in range(len(argv))]
    assert {find_readonly_program(one, READONLY_CWD) for one in changed} == {None}


def test_usage_has_labels_instead_of_patterns():
    assert CODE_SEARCH.usage == "ast-grep run --json=compact --pattern <name> -- <folder>"
    assert ACCOUNT_USAGE.usage == "caut usage|refresh --service <service> --format json"
