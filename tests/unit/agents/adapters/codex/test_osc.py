import pytest

from tests.unit.agents.adapters.codex.codex_records import OWN_PROCESS, READ_AT, read_one_signal, read_signals


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ("state=idle:app=codex", "idle"),
        ("state=working:app=codex", "running"),
        ("state=blocked:app=codex:kind=permission", "waiting_approval"),
        ("state=blocked:app=codex:kind=auth", "waiting_input"),
        ("state=blocked:app=codex", "waiting_input"),
        ("state=done:app=codex", "completed"),
        ("state=error:app=codex", "error"),
        ("state=clear", "unknown"),
        ("state=dancing:app=codex", "unknown"),
    ],
)
def test_a_mark_tells_the_state(text, state):
    assert read_one_signal("osc", text).state == state


def test_a_mark_keeps_its_place_and_whom_it_is_about():
    signal = read_one_signal("osc", "state=idle:app=codex", hint=OWN_PROCESS, event_id="3@512")
    assert (signal.agent, signal.tier, signal.hint, signal.event_at) == ("codex", "deterministic", OWN_PROCESS, READ_AT)
    assert signal.dedupe_key != read_one_signal("osc", "state=idle:app=codex", event_id="3@900").dedupe_key


def test_a_login_that_is_missing_is_a_flag():
    assert read_one_signal("osc", "state=blocked:app=codex:kind=auth").flags.auth_needed


@pytest.mark.parametrize("text", ["state=idle:app=claude-code", "app=codex", "", "?"])
def test_other_marks_say_nothing(text):
    assert read_signals("osc", text) == []


def test_an_unsupported_state_is_unknown():
    assert read_one_signal("osc", "state=dancing:app=codex").reason == "unsupported_signal"
    assert read_one_signal("osc", "state=clear").reason == "no_signal"
