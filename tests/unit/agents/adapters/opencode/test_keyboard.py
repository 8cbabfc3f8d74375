"""How opencode is spoken to."""

from termvisor.agents.adapters.opencode import keyboard as channel
from tests.unit.agents.adapters.opencode.screens import PERMISSION, WORK, barred, composed, panel

REQUEST, SESSION = "per_1e29c4441001", "ses_000000000001"


def test_a_permission_is_answered_over_http():
    allow, deny = channel.reply(REQUEST, "allow"), channel.reply(REQUEST, "deny")
    assert allow == channel.Call(path=f"/permission/{REQUEST}/reply", body={"reply": "once"})
    assert deny is not None
    assert deny.body == {"reply": "reject"}


def test_an_id_that_is_none_makes_no_address():
    assert channel.reply("per_../../session", "allow") is None
    assert channel.abort("x") is None
    assert channel.prompt("ses_/x", "hello") is None


def test_a_session_takes_prompts_and_can_be_stopped():
    prompt, abort = channel.prompt(SESSION, "go"), channel.abort(SESSION)
    assert prompt is not None
    assert prompt.body == {"parts": [{"type": "text", "text": "go"}]}
    assert abort == channel.Call(path=f"/session/{SESSION}/abort", body={})


def test_keys_can_refuse_but_not_allow():
    press = channel.answer(panel(*PERMISSION), "deny")
    assert press is not None
    assert press.keys == ("Escape",)
    assert channel.answer(panel(*PERMISSION), "allow") is None
    assert channel.answer(composed(), "deny") is None


def test_only_work_is_interrupted_and_only_what_is_missing_is_pressed():
    twice, once = (
        channel.interrupt(composed(below=WORK)),
        channel.interrupt(composed(below="   ⬝⬝■■■■■■  esc again to interrupt")),
    )
    assert twice is not None
    assert once is not None
    assert (twice.keys, once.keys) == (("Escape", "Escape"), ("Escape",))
    assert twice.pause > 0
    assert channel.interrupt(composed()) is None


def test_a_composer_is_empty_or_somebody_writes_in_it():
    assert channel.is_composer_empty(composed(*barred("go"))) is True
    assert channel.is_composer_empty(composed(typed="Ask anything… ")) is True
    assert channel.is_composer_empty(composed(typed="half a thought")) is False
    assert channel.is_composer_empty(panel(*PERMISSION)) is None
