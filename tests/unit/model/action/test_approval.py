import pytest

from termvisor.model.action.approval import Verdict, VerdictReason, combine_reasons

ALLOW = VerdictReason(source="default", id="human.input", answer="allow")
ASK = VerdictReason(source="rule", id="two", answer="ask", text="Two pairs of eyes.", two_person=True)
DENY = VerdictReason(source="deny_list", id="never_written", answer="deny")


@pytest.mark.parametrize(
    ("reasons", "answer", "why"),
    [
        ((), "ask", ""),
        ((ALLOW,), "allow", "human.input"),
        ((ALLOW, ASK), "ask", "Two pairs of eyes."),
        ((DENY, ASK, ALLOW), "deny", "never_written"),
    ],
)
def test_the_strictest_reason_wins_and_all_are_kept(reasons: tuple[VerdictReason, ...], answer: str, why: str) -> None:
    verdict = combine_reasons(reasons, 5)
    assert (verdict.answer, verdict.why, verdict.reasons, verdict.retry_at) == (answer, why, reasons, 5)


def test_one_reason_can_require_two_people() -> None:
    assert combine_reasons((ALLOW, ASK)).needs_two
    assert not Verdict(answer="ask", reasons=(ALLOW,)).needs_two
