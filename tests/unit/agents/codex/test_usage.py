from termvisor.agents.codex.usage import counted


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
        "input": 6,
        "output": 3,
        "cached": 2,
        "reasoning": 1,
        "context_used": 0.05,
        "context_size": 100,
    }


def test_what_was_not_counted_is_left_out():
    assert counted({}, {}, None) == {}
    assert counted({"total_tokens": 0}, {}, 0) == {"total": 0}
