from termvisor.agents.adapters.codex.usage import counted, of_request, window_flags
from termvisor.clock import NS
from termvisor.model.agent.signal import SILENT, FlagsTold


def test_both_spellings_say_the_same():
    files = {
        "total_tokens": 9,
        "input_tokens": 6,
        "cached_input_tokens": 2,
        "output_tokens": 3,
        "reasoning_output_tokens": 1,
    }
    server = {"totalTokens": 9, "inputTokens": 6, "cachedInputTokens": 2, "outputTokens": 3, "reasoningOutputTokens": 1}
    told = counted(files, {"total_tokens": 5}, 100)
    assert told == counted(server, {"totalTokens": 5}, 100)
    assert told == {
        "total": 9,
        "input": 4,
        "output": 3,
        "cached": 2,
        "reasoning": 1,
        "context_used": 0.05,
        "context_size": 100,
    }


def test_one_answer_tells_what_came_out_of_a_cache_apart():
    used = {"input_tokens": 100, "cached_input_tokens": 60, "cache_write_input_tokens": 10, "output_tokens": 7}
    assert of_request("turn@1", used) == {
        "message_id": "turn@1",
        "message_input": 30,
        "message_output": 7,
        "message_cached": 70,
        "message_written": 10,
    }
    assert of_request("turn@1", {}) == {}


def test_what_was_not_counted_is_left_out():
    assert counted({}, {}, None) == {}
    assert counted({"total_tokens": 0}, {}, 0) == {"total": 0}


def test_a_window_that_is_used_up_ends_at_a_known_second():
    spent = {"primary": {"usedPercent": 100, "resetsAt": 1_794_813_410}, "secondary": {"usedPercent": 10}}
    assert window_flags(spent) == FlagsTold(usage_limited=True, resets_at=1_794_813_410 * NS)
    both = {"primary": {"used_percent": 100.0, "resets_at": 5}, "secondary": {"used_percent": 100.0, "resets_at": 9}}
    assert window_flags(both).resets_at == 9 * NS
    assert window_flags({"primary": {"usedPercent": 42, "resetsAt": 5}}) == FlagsTold(usage_limited=False)
    assert window_flags({"primary": None}) == SILENT
    assert window_flags("nothing") == SILENT
