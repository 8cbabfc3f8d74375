"""Signals of app-server messages."""

import pytest

from termvisor.agents.adapters.codex.server_messages import CONNECTION_LOST, THREAD_LISTED, TURN_LISTED_METHOD
from termvisor.clock import NS
from termvisor.model.agent.signal import FlagUpdate
from tests.unit.agents.adapters.codex.codex_records import OWN_PROCESS, READ_AT, read_one_signal, read_signals

T = "01a1e290-84e2-7552-9a96-bdc8cca6f404"


def read_message(method, **params):
    return read_one_signal("app_server", {"method": method, "params": {"threadId": T, **params}}, hint=OWN_PROCESS)


@pytest.mark.parametrize(
    ("status", "state"),
    [
        ({"type": "idle"}, "idle"),
        ({"type": "active", "activeFlags": []}, "running"),
        ({"type": "active", "activeFlags": ["waitingOnApproval"]}, "waiting_approval"),
        ({"type": "active", "activeFlags": ["waitingOnUserInput"]}, "waiting_input"),
        ({"type": "active", "activeFlags": ["somethingNew"]}, "running"),
        ({"type": "systemError"}, "error"),
        ({"type": "somethingNew"}, "unknown"),
        ({}, "unknown"),
    ],
)
def test_a_status_gives_a_state(status, state):
    signal = read_message("thread/status/changed", status=status)
    assert (signal.state, signal.session, signal.hint) == (state, T, OWN_PROCESS)


def test_a_thread_that_is_not_loaded_gives_no_signal():
    thread = {"id": T, "status": {"type": "notLoaded"}}
    assert read_signals("app_server", {"method": THREAD_LISTED, "params": {"thread": thread}}) == []


def test_the_emitted_time_counts_unless_it_is_in_the_future():
    changed = {"method": "thread/status/changed", "params": {"threadId": T, "status": {"type": "idle"}}}
    assert (
        read_one_signal("app_server", {**changed, "emittedAtMs": READ_AT // 10**6 - 5}).event_at == READ_AT - 5 * 10**6
    )
    assert read_one_signal("app_server", {**changed, "emittedAtMs": READ_AT // 10**6 + 9999}).event_at == READ_AT


def test_a_listed_thread_has_title_model_and_version():
    thread = {"id": T, "status": {"type": "idle"}, "name": "Mend it", "model": "gpt-6", "cliVersion": "0.166.0"}
    signal = read_message(THREAD_LISTED, thread=thread)
    assert (signal.state, signal.title) == ("idle", "Mend it")
    assert signal.payload == {"model": "gpt-6", "version": "0.166.0"}


def test_each_turn_status_gives_a_state():
    items = [{"type": "agentMessage", "text": "Done."}]
    ended = read_message("turn/completed", turn={"status": "completed", "items": items})
    assert (ended.state, ended.payload) == ("completed", {"last_message": "Done."})
    assert read_message(TURN_LISTED_METHOD, turn={"status": "interrupted"}).state == "idle"
    assert read_message("turn/started", turn={"status": "inProgress"}).state == "running"
    failed = read_message(
        TURN_LISTED_METHOD, turn={"status": "failed", "error": {"message": "no", "codexErrorInfo": "unauthorized"}}
    )
    assert (failed.state, failed.payload["error"], failed.flags.auth_needed) == ("error", "auth", True)


def test_an_error_that_is_retried_is_running():
    error = {"message": "busy", "codexErrorInfo": "serverOverloaded"}
    assert read_message("error", willRetry=True, error=error).state == "running"
    assert read_message("error", willRetry=False, error=error).state == "error"


def test_a_compaction_item_sets_and_clears_the_compacting_flag():
    item = {"type": "contextCompaction"}
    assert read_message("item/started", item=item).flags == FlagUpdate(compacting=True)
    assert read_message("item/completed", item=item).flags == FlagUpdate(compacting=False)
    assert read_message("thread/compacted").kind == "note"


def test_requests_give_a_waiting_state_with_their_question():
    signal = read_message("item/commandExecution/requestApproval", command="rm -r x", reason="May it?")
    assert (signal.state, signal.payload) == ("waiting_approval", {"command": "rm -r x", "question": "May it?"})
    assert read_message("item/tool/requestUserInput", questions=[{"question": "Which?"}]).payload == {
        "question": "Which?"
    }


def test_token_usage_and_rate_limits_are_notes():
    total = {"totalTokens": 100, "inputTokens": 90, "outputTokens": 10, "cachedInputTokens": 50}
    usage = {"total": total, "last": {"totalTokens": 50}, "modelContextWindow": 200}
    signal = read_message("thread/tokenUsage/updated", tokenUsage=usage)
    assert signal.kind == "note"
    assert (signal.payload["total"], signal.payload["cached"], signal.payload["context_used"]) == (100, 50, 0.25)
    limits = read_message("account/rateLimits/updated", rateLimits={"primary": {"usedPercent": 100, "resetsAt": 9}})
    assert limits.flags == FlagUpdate(usage_limited=True, resets_at=9 * NS)


def test_a_sub_agent_is_a_task_of_its_parent():
    child = {"parentThreadId": T, "childThreadId": "child", "threadId": "child"}
    began = read_message("thread/status/changed", **child, status={"type": "active", "activeFlags": []})
    assert (began.kind, began.task, began.session) == ("task_began", "child", T)
    assert read_message("thread/status/changed", **child, status={"type": "idle"}).kind == "task_ended"
    waits = read_message(
        "thread/status/changed", **child, status={"type": "active", "activeFlags": ["waitingOnApproval"]}
    )
    assert (waits.kind, waits.state) == ("state", "waiting_approval")


def test_a_lost_connection_is_reported():
    assert read_one_signal("app_server", {"method": CONNECTION_LOST}, hint=OWN_PROCESS).kind == "source_down"


def test_secrets_are_redacted():
    token = "ghp_" + "a1B2" * 9
    signal = read_message(
        TURN_LISTED_METHOD, turn={"status": "completed", "items": [{"type": "agentMessage", "text": f"Use {token}"}]}
    )
    assert token not in str(signal)


@pytest.mark.parametrize("text", ["", "[]", "no json", "7", "[" * 9999])
def test_text_that_is_not_a_message_is_unsupported(text):
    assert read_one_signal("app_server", text).reason == "unsupported_signal"


@pytest.mark.parametrize(
    "message", [{"method": "hook/completed"}, {"method": "item/started", "params": {"item": 3}}, {}]
)
def test_irrelevant_messages_give_no_signal(message):
    assert read_signals("app_server", message) == []
