from termvisor.agents.codex.evidence import TEXT_LIMIT, inside, number, parsed, payload, shown, text


def test_json_of_strangers_is_looked_into_without_a_stumble():
    value = parsed('{"a": {"b": {"c": "x", "n": 3.7}}, "t": true, "l": []}')
    assert text(inside(value, "a", "b"), "c") == "x"
    assert number(inside(value, "a", "b"), "n") == 3
    assert inside(value, "l", "b") == {}
    assert text(value, "t") == ""
    assert number(value, "missing") == 0
    assert parsed("[1]") is None
    assert parsed("[" * 5000) is None


def test_payloads_leave_out_what_is_empty_and_what_is_secret():
    token = "ghp_" + "a1B2" * 9
    told = payload(message=f"take {token}", tool="", total=0, cost=None)
    assert set(told) == {"message", "total"}
    assert token not in told["message"]


def test_texts_are_bounded():
    assert len(shown("word " * TEXT_LIMIT)) == TEXT_LIMIT
