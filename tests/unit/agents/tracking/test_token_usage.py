"""Token usage of a session, however its messages are reported."""

from hypothesis import given
from hypothesis import strategies as st

from termvisor.agents.tracking.token_usage import apply_usage
from termvisor.model.agent.session import AgentSession, TokenCounts, TokenUsage
from termvisor.model.ids import PaneId, RuntimeId

FRESH = AgentSession(runtime=RuntimeId(1), pane=PaneId(1), agent="claude_code", model="opus", started_at=0)


def answer(name: str, given: int = 0, output: int = 0, cached: int = 0, **more) -> dict:
    return {"message_id": name, "message_input": given, "message_output": output, "message_cached": cached, **more}


def after(*told: dict, session: AgentSession = FRESH) -> AgentSession:
    for one in told:
        session = apply_usage(session, one)
    return session


def test_messages_add_up() -> None:
    assert after(answer("a", 10, 2, 100), answer("b", 5, 1, 200)).usage == TokenUsage(
        total=318, input=15, output=3, cached=300
    )


def test_a_message_counts_once_with_its_largest_figures() -> None:
    session = after(answer("a", 10, 1), answer("a", 10, 7), answer("a", 10, 3))
    assert (session.usage.input, session.usage.output) == (10, 7)


def test_messages_of_sub_agents_may_come_between() -> None:
    session = after(answer("a", 10, 1), answer("b", 1, 1), answer("a", 10, 1), answer("b", 1, 1))
    assert session.usage.total == 13


def test_tokens_are_summed_per_model() -> None:
    session = after(answer("a", 10, model="opus"), answer("b", 3, message_model="haiku", message_written=0))
    assert session.by_model == {"opus": TokenCounts(input=10), "haiku": TokenCounts(input=3)}


def test_cache_writes_and_reads_are_separate() -> None:
    session = after(answer("a", 1, 1, cached=50, message_written=20))
    assert session.by_model["opus"] == TokenCounts(input=1, output=1, cached=30, written=20)
    assert session.usage.cached == 50


def test_a_reported_total_counts_while_it_is_larger() -> None:
    told = {"total": 100, "input": 90, "output": 10, "cost": 0.5}
    assert after(answer("a", 50, 1), told).usage == TokenUsage(total=100, input=90, output=10, cost=0.5)
    later = after(answer("a", 50, 1), told, answer("b", 80, 2)).usage
    assert (later.total, later.cost) == (133, None), "the cost was for less"


def test_a_missing_total_is_input_plus_output() -> None:
    assert after({"input": 19_500, "output": 325, "cached": 7}).usage.total == 19_825


def test_invalid_figures_are_ignored() -> None:
    assert after({"model": "opus"}, {"message_id": 7, "message_input": 3}, answer("")).usage == TokenUsage()
    assert after(answer("a", -5)).usage == TokenUsage()


def test_the_context_is_known_in_tokens_and_as_a_share() -> None:
    def found(**told):
        usage = after(told).usage
        return usage.context_used, usage.context_tokens

    assert found(context_used=50_000, context_size=200_000) == (0.25, 50_000)
    assert found(context_used=0.25, context_size=200_000) == (0.25, 50_000)
    assert found(context_used=50_000) == (None, 50_000)
    assert found(context_tokens=1525) == (None, 1525)
    assert found(context_used=0.4) == (0.4, None)


def test_only_the_last_messages_are_remembered() -> None:
    session = after(*(answer(str(number), 1) for number in range(500)))
    assert (session.usage.total, len(session.messages)) == (500, 24)


ANSWERS = st.lists(
    st.tuples(st.integers(0, 9), st.integers(0, 50), st.integers(0, 50)).map(lambda one: answer(str(one[0]), *one[1:])),
    max_size=40,
)


@given(ANSWERS)
def test_order_and_repetition_do_not_matter(told: list[dict]) -> None:
    once = {}
    for one in told:
        before = once.get(one["message_id"], (0, 0))
        once[one["message_id"]] = (max(before[0], one["message_input"]), max(before[1], one["message_output"]))
    expected = sum(given + output for given, output in once.values())
    assert (after(*told).usage.total or 0) == (after(*reversed(told), *told).usage.total or 0) == expected


def test_a_shown_cost_counts_until_a_total_has_one() -> None:
    shown = after(answer("a", 50, 1), {"cost_so_far": 0.3}, answer("b", 80, 2), {"cost_so_far": 0.2})
    assert (shown.usage.total, shown.usage.cost) == (133, 0.3)
    assert after({"cost_so_far": 0.1}).usage.cost == 0.1
    told = after({"total": 500, "input": 480, "output": 20, "cost": 0.5}, session=shown)
    assert (told.usage.total, told.usage.cost) == (500, 0.5)
