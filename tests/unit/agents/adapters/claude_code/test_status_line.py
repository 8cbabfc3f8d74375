"""Recorded status line input of Claude Code 2.1.325: cost and context usage."""

from tests.unit.agents.adapters.claude_code.claude_inputs import SESSION, read_hook

MODEL = {"id": "claude-opus-5-5", "display_name": "Opus 5.5"}
FRESH = {"total_input_tokens": 0, "context_window_size": 1_000_000, "current_usage": None, "used_percentage": None}


def test_it_tells_model_cost_and_context_and_no_state():
    window = {**FRESH, "used_percentage": 42}
    (said,) = read_hook(
        "StatusLine", model=MODEL, version="2.1.325", cost={"total_cost_usd": 0.0128}, context_window=window
    )
    assert (said.kind, said.state, said.session) == ("note", None, SESSION)
    assert said.payload == {
        "model": "claude-opus-5-5",
        "version": "2.1.325",
        "cost_so_far": 0.0128,
        "context_used": 0.42,
        "context_size": 1_000_000,
    }


def test_before_the_first_answer_it_knows_little():
    (said,) = read_hook("StatusLine", model=MODEL, cost={"total_cost_usd": 0}, context_window=FRESH)
    assert said.payload == {"model": "claude-opus-5-5"}


def test_what_is_of_another_form_says_nothing():
    assert read_hook("StatusLine", model="opus", cost=[], context_window={"used_percentage": "much"}) == []
