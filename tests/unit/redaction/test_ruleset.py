"""The active kinds, and what a user can add or allow."""

import pytest

from termvisor.errors import ConfigError
from termvisor.redaction import Redactor, build_rules, list_kinds

NONCE = "0f1e2d3c4b5a69788796a5b4c3d2e1f0"


def test_only_the_allowed_kind_is_unchanged():
    rules = build_rules(allow=["password_assignment"])
    lines = Redactor(rules).redact_lines(["password=hunter2", "token=abcd1234efgh"])
    assert lines == ["password=hunter2", "token=[redacted:secret_assignment]"]


def test_an_unknown_kind_in_allow_is_rejected():
    with pytest.raises(ConfigError, match=r"unknown kind of secret nonsense; known kinds: anthropic_key, ") as error:
        build_rules(allow=["nonsense"])
    assert "password_assignment" in error.value.details["kinds"]


def test_a_custom_pattern_masks_its_match_or_secret_group():
    rules = build_rules(extra=[r"ACME-\d{4}", r"(?i)ticket (?P<secret>[a-z]+)"])
    assert Redactor(rules).redact_lines(["x ACME-1234 y", "Ticket abc"]) == [
        "x [redacted:custom_1] y",
        "Ticket [redacted:custom_2]",
    ]


def test_a_custom_pattern_may_match_a_marker():
    rules = build_rules(extra=[r"\w{8,}"])
    once = Redactor(rules).redact_lines(["abcdefghij password=hunter2 redacted"])
    assert once == ["[redacted:custom_1] [redacted:custom_1]=[redacted:password_assignment] [redacted:custom_1]"]
    assert Redactor(rules).redact_lines(once) == once


@pytest.mark.parametrize("pattern", ["(", "a(?=b)", "x*", r"(a)\1"])
def test_an_invalid_custom_pattern_is_rejected_by_number(pattern: str):
    with pytest.raises(ConfigError, match="custom_2"):
        build_rules(extra=["fine", pattern])


def test_the_nonce_is_masked_everywhere_and_in_no_cached_pattern():
    rules = build_rules(nonce=NONCE)
    rows = [f"see {NONCE}", f"a{NONCE}b nonce={NONCE[::-1]}", f"nonce={NONCE}", NONCE[1:]]
    mask = "[redacted:shell_nonce]"
    assert Redactor(rules).redact_lines(rows) == [f"see {mask}", f"a{mask}b nonce={mask}", f"nonce={mask}", NONCE[1:]]
    assert NONCE not in str(rules.patterns)
    assert Redactor(build_rules(nonce=NONCE, allow=["shell_nonce"])).redact_lines(rows) == rows


def test_restricted_rules_keep_the_nonce_kind():
    rules = build_rules(nonce=NONCE)
    assert rules.restrict_to({"shell_nonce", "jwt"}).scan(NONCE) == {"shell_nonce"}
    assert rules.restrict_to({"jwt"}).scan(NONCE) == frozenset()


def test_every_kind_is_listed_once_for_the_docs():
    rows = list_kinds()
    assert len({row.name for row in rows}) == len(rows) >= 30
    assert all(row.doc for row in rows)
    assert {row.name for row in rows if row.wrapped} >= {"anthropic_key", "jwt", "private_key"}
    assert not {row.name for row in rows if row.wrapped} & {"password_assignment", "cookie", "url_password"}
