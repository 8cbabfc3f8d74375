"""The active kinds, and what a user can add or allow."""

import re

import pytest

from termvisor.errors import ConfigError
from termvisor.redaction import Redactor, build_rules, list_kinds, ruleset

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
    rows = [f"see {NONCE}", f"a{NONCE}b nonce={NONCE[::-1]}", f"nonce={NONCE}", NONCE[1:], NONCE[1:15]]
    mask = "[redacted:shell_nonce]"
    masked = [f"see {mask}", f"a{mask}b nonce={mask}", f"nonce={mask}", mask, NONCE[1:15]]
    assert Redactor(rules).redact_lines(rows) == masked
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


def test_a_nonce_changes_no_other_kind():
    rules = build_rules(nonce=NONCE)
    changed = [kind.id for kind in rules.kinds.values() if kind != build_rules().kinds[kind.id]]
    assert changed == ["shell_nonce"]


class CompilerRecord:
    """Stands for the engine, whose compilation takes seconds with a cache folder, and records its arguments."""

    def __init__(self, monkeypatch, *, is_cached: bool):
        self.calls = []
        monkeypatch.setattr(ruleset, "compile_patterns", self.compile)
        monkeypatch.setattr(ruleset, "is_cached", lambda patterns, folder: is_cached)

    def compile(self, patterns, engine="validate", *, cache_folder=None):
        self.calls.append((engine, cache_folder, "custom_1" in patterns, len(patterns) == 1))
        return object()


@pytest.mark.parametrize(
    ("extra", "cache", "is_cached", "calls"),
    [
        ([], None, False, [("auto", None, False, False)]),
        ([], "/cache", False, [("auto", "/cache", False, False)]),
        (["a1"], None, False, [("validate", None, True, True), ("auto", None, True, False)]),
        (["a1"], "/cache", False, [("validate", None, True, True), ("re2", "/cache", True, False)]),
        (["a1"], "/cache", True, [("auto", "/cache", True, False)]),
        (["a1"], None, True, [("validate", None, True, True), ("auto", None, True, False)]),
    ],
)
def test_custom_patterns_are_validated_first_and_tried_apart_unless_cached(monkeypatch, extra, cache, is_cached, calls):
    compiler = CompilerRecord(monkeypatch, is_cached=is_cached)
    rules = build_rules(extra, cache=cache)
    assert rules.matcher is rules.matcher
    assert compiler.calls == calls
    assert rules.is_compiled
    assert list(rules.custom_patterns) == [f"custom_{number}" for number, _ in enumerate(extra, 1)]


def test_restricted_rules_compile_nothing(monkeypatch):
    compiler = CompilerRecord(monkeypatch, is_cached=False)
    rules = build_rules()
    assert rules.restrict_to({"jwt"}).matcher is rules.matcher
    assert len(compiler.calls) == 1


def test_an_unknown_kind_is_named_in_the_details():
    with pytest.raises(ConfigError) as error:
        build_rules(allow=["jwt", "nonsense", "more"])
    assert error.value.details == {"unknown": ["nonsense", "more"], "kinds": [row.name for row in list_kinds()]}


@pytest.mark.parametrize(("rest", "least"), [("abc", 15), ("abcd", 11), ("abcdefg", 11), ("abcdefgh", 4)])
def test_a_longer_rest_of_a_prefix_needs_a_shorter_run(rest, least):
    pattern = re.compile(ruleset.build_run_pattern(rest))
    assert pattern.fullmatch("a" * (least + 1))
    assert not pattern.match("a" * least)
