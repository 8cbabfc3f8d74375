import platform
import sys

import pytest

from termvisor.diagnostics.checks.python import USED_FORMS, PatternProbe, PythonCheck, find_wrong_forms


def test_this_interpreter_matches_the_forms_that_termvisor_uses() -> None:
    assert find_wrong_forms(USED_FORMS) == []


def test_a_form_that_ends_elsewhere_is_wrong() -> None:
    right, longer, missing = (PatternProbe("a*", "aab", 2), PatternProbe("a+", "aab", 3), PatternProbe("b", "a", 1))
    assert find_wrong_forms((right, longer, missing)) == ["a+", "b"]


@pytest.mark.parametrize(
    ("used", "avoided", "status", "part"),
    [
        ([], [], "ok", "correctly"),
        ([], ["(?:a|b)++"], "ok", "but not (?:a|b)++ and the like (CPython gh-106052)"),
        (["a*"], ["(?:a|b)++"], "fail", "does not match correctly: a*"),
    ],
)
def test_an_affected_interpreter_is_named(used: list[str], avoided: list[str], status: str, part: str) -> None:
    finding = PythonCheck().judge_forms(used, avoided)
    assert (finding.status, bool(finding.hint)) == (status, status == "fail")
    assert f"Python {platform.python_version()} ({sys.executable})" in finding.message
    assert part in finding.message
