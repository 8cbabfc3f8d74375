"""A model that answers an agent's dialog approves something, so a person is asked each time."""

import pytest
from msgspec.structs import replace

from termvisor.actions.gate import _require_approval
from termvisor.actions.policy_check import PolicyDecision
from termvisor.model.action.action import Actor, ActorKind, AnswerDialog, Interrupt
from termvisor.model.action.approval import Verdict, VerdictReason, combine_reasons
from termvisor.model.action.preconditions import Preconditions
from termvisor.model.ids import PaneId

ALLOWED = combine_reasons((VerdictReason("rule", "yes_to_all", "allow", ""),))
ANSWER = AnswerDialog(pane=PaneId(1), agent="codex", choice="allow")


def _judge(action: AnswerDialog | Interrupt, kind: ActorKind = "mcp", verdict: Verdict = ALLOWED) -> PolicyDecision:
    decision = PolicyDecision(action=action, verdict=verdict, capabilities=("run make",))
    return _require_approval(decision, Actor(kind=kind, uid=1000, pid=7), Preconditions())


@pytest.mark.parametrize("choice", ["allow", "1", "Yes", "Yes, and don't ask again"])
def test_an_allow_rule_does_not_spare_the_question(choice: str) -> None:
    judged = _judge(replace(ANSWER, choice=choice))
    assert judged.verdict.answer == "ask"
    assert "approval" in judged.verdict.why
    # A grant for the session must not cover the next answer.
    assert judged.capabilities == ()


def test_a_denial_stays_a_denial() -> None:
    denied = combine_reasons((VerdictReason("rule", "never", "deny", ""),))
    assert _judge(ANSWER, verdict=denied).verdict.answer == "deny"


def test_denying_and_other_actions_follow_the_policy() -> None:
    assert _judge(replace(ANSWER, choice="deny")).verdict.answer == "allow"
    assert _judge(Interrupt(pane=PaneId(1), agent="codex")).verdict.answer == "allow"


@pytest.mark.parametrize("kind", ["human", "robot", "workflow"])
def test_other_callers_follow_the_policy(kind: ActorKind) -> None:
    assert _judge(ANSWER, kind).verdict.answer == "allow"
