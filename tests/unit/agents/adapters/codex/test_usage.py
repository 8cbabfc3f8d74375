"""Token usage and rate limits of Codex."""

from termvisor.agents.adapters.codex.usage import build_request_usage_payload, build_usage_payload, build_window_flags
from termvisor.clock import NS
from termvisor.model.agent.signal import NO_FLAG_UPDATE, FlagUpdate


def test_both_spellings_of_token_counts_are_read():
    files = {
        "total_tokens": 9,
        "input_tokens": 6,
        "cached_input_tokens": 2,
        "output_tokens": 3,
        "reasoning_output_tokens": 1,
    }
    server = {"totalTokens": 9, "inputTokens": 6, "cachedInputTokens": 2, "outputTokens": 3, "reasoningOutputTokens": 1}
    payload = build_usage_payload(files, {"total_tokens": 5}, 100)
    assert payload == build_usage_payload(server, {"totalTokens": 5}, 100)
    assert payload == {
        "total": 9,
        "input": 4,
        "output": 3,
        "cached": 2,
        "reasoning": 1,
        "context_used": 0.05,
        "context_size": 100,
    }


def test_the_usage_of_one_answer_separates_cached_tokens():
    used = {"input_tokens": 100, "cached_input_tokens": 60, "cache_write_input_tokens": 10, "output_tokens": 7}
    assert build_request_usage_payload("turn@1", used) == {
        "message_id": "turn@1",
        "message_input": 30,
        "message_output": 7,
        "message_cached": 70,
        "message_written": 10,
    }
    assert build_request_usage_payload("turn@1", {}) == {}


def test_missing_counts_are_left_out():
    assert build_usage_payload({}, {}, None) == {}
    assert build_usage_payload({"total_tokens": 0}, {}, 0) == {"total": 0}


def test_an_exhausted_window_sets_usage_limited_with_its_reset_time():
    spent = {"primary": {"usedPercent": 100, "resetsAt": 1_794_813_410}, "secondary": {"usedPercent": 10}}
    assert build_window_flags(spent) == FlagUpdate(usage_limited=True, resets_at=1_794_813_410 * NS)
    both = {"primary": {"used_percent": 100.0, "resets_at": 5}, "secondary": {"used_percent": 100.0, "resets_at": 9}}
    assert build_window_flags(both).resets_at == 9 * NS
    assert build_window_flags({"primary": {"usedPercent": 42, "resetsAt": 5}}) == FlagUpdate(usage_limited=False)
    assert build_window_flags({"primary": None}) == NO_FLAG_UPDATE
    assert build_window_flags("nothing") == NO_FLAG_UPDATE
