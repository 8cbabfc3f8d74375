"""How opencode is spoken to."""

from termvisor.agents.adapters.opencode import keyboard
from tests.unit.agents.adapters.opencode.screens import (
    PERMISSION_PANEL,
    WORKING_FOOTER,
    add_left_bar,
    build_composer_screen,
    build_panel_screen,
)

REQUEST, SESSION = "per_1e29c4441001", "ses_000000000001"


def test_a_permission_is_answered_over_http():
    allow, deny = keyboard.build_permission_reply(REQUEST, "allow"), keyboard.build_permission_reply(REQUEST, "deny")
    assert allow == keyboard.OpencodeRequest(path=f"/permission/{REQUEST}/reply", body={"reply": "once"})
    assert deny is not None
    assert deny.body == {"reply": "reject"}


def test_an_id_that_is_none_makes_no_address():
    assert keyboard.build_permission_reply("per_../../session", "allow") is None
    assert keyboard.build_abort_request("x") is None
    assert keyboard.build_prompt_request("ses_/x", "hello") is None


def test_a_session_takes_prompts_and_can_be_stopped():
    prompt, abort = keyboard.build_prompt_request(SESSION, "go"), keyboard.build_abort_request(SESSION)
    assert prompt is not None
    assert prompt.body == {"parts": [{"type": "text", "text": "go"}]}
    assert abort == keyboard.OpencodeRequest(path=f"/session/{SESSION}/abort", body={})


def test_keys_can_refuse_but_not_allow():
    press = keyboard.find_answer_keys(build_panel_screen(*PERMISSION_PANEL), "deny")
    assert press is not None
    assert press.keys == ("Escape",)
    assert keyboard.find_answer_keys(build_panel_screen(*PERMISSION_PANEL), "allow") is None
    assert keyboard.find_answer_keys(build_composer_screen(), "deny") is None


def test_only_work_is_interrupted_and_only_what_is_missing_is_pressed():
    twice, once = (
        keyboard.find_interrupt_keys(build_composer_screen(below=WORKING_FOOTER)),
        keyboard.find_interrupt_keys(build_composer_screen(below="   ⬝⬝■■■■■■  esc again to interrupt")),
    )
    assert twice is not None
    assert once is not None
    assert (twice.keys, once.keys) == (("Escape", "Escape"), ("Escape",))
    assert twice.pause_s > 0
    assert keyboard.find_interrupt_keys(build_composer_screen()) is None


def test_a_composer_is_empty_or_somebody_writes_in_it():
    assert keyboard.is_composer_empty(build_composer_screen(*add_left_bar("go"))) is True
    assert keyboard.is_composer_empty(build_composer_screen(typed="Ask anything… ")) is True
    assert keyboard.is_composer_empty(build_composer_screen(typed="half a thought")) is False
    assert keyboard.is_composer_empty(build_panel_screen(*PERMISSION_PANEL)) is None
