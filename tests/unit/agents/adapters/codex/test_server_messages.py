import pytest

from termvisor.agents.adapters.codex.server_messages import CONNECTION_LOST, THREAD_LISTED, TURN_LISTED_METHOD
from termvisor.clock import NS
from termvisor.model.agent.signal import FlagUpdate
from tests.unit.agents.adapters.codex.codex_records import OWN_PROCESS, READ_AT, read_one_signal, read_signals

T = "01a1e290-84e2-7552-9a96-bdc8cca6f404"


def said(method, **params):
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
def test_a_status_is_a_state(status, state):
    signal = said("thread/status/changed", status=status)
    assert (signal.state, signal.session, signal.hint) == (state, T, OWN_PROCESS)


def test_a_thread_that_is_not_loaded_says_nothing():
    thread = {"id": T, "status": {"type": "notLoaded"}}
    assert read_signals("app_server", {"method": THREAD_LISTED, "params": {"thread": thread}}) == []


def test_its_own_time_counts_unless_it_runs_ahead():
    changed = {"method": "thread/status/changed", "params": {"threadId": T, "status": {"type": "idle"}}}
    assert (
        read_one_signal("app_server", {**changed, "emittedAtMs": READ_AT // 10**6 - 5}).event_at == READ_AT - 5 * 10**6
    )
    assert read_one_signal("app_server", {**changed, "emittedAtMs": READ_AT // 10**6 + 9999}).event_at == READ_AT


def test_a_listed_thread_tells_its_name_and_model():
    thread = {"id": T, "status": {"type": "idle"}, "name": "Mend it", "model": "gpt-6", "cliVersion": "0.166.0"}
    signal = said(THREAD_LISTED, thread=thread)
    assert (signal.state, signal.title) == ("idle", "Mend it")
    assert signal.payload == {"model": "gpt-6", "version": "0.166.0"}


def test_a_turn_ends_in_four_ways():
    spoken = [{"type": "agentMessage", "text": "Done."}]
    ended = said("turn/completed", turn={"status": "completed", "items": spoken})
    assert (ended.state, ended.payload) == ("completed", {"last_message": "Done."})
    assert said(TURN_LISTED_METHOD, turn={"status": "interrupted"}).state == "idle"
    assert said("turn/started", turn={"status": "inProgress"}).state == "running"
    failed = said(
        TURN_LISTED_METHOD, turn={"status": "failed", "error": {"message": "no", "codexErrorInfo": "unauthorized"}}
    )
    assert (failed.state, failed.payload["error"], failed.flags.auth_needed) == ("error", "auth", True)


def test_an_error_that_is_tried_again_is_none_yet():
    error = {"message": "busy", "codexErrorInfo": "serverOverloaded"}
    assert said("error", willRetry=True, error=error).state == "running"
    assert said("error", willRetry=False, error=error).state == "error"


def test_compaction_begins_and_ends():
    item = {"type": "contextCompaction"}
    assert said("item/started", item=item).flags == FlagUpdate(compacting=True)
    assert said("item/completed", item=item).flags == FlagUpdate(compacting=False)
    assert said("thread/compacted").kind == "note"


def test_requests_wait_for_a_person():
    asked = said("item/commandExecution/requestApproval", command="rm -r x", reason="May it?")
    assert (asked.state, asked.payload) == ("waiting_approval", {"command": "rm -r x", "question": "May it?"})
    assert said("item/tool/requestUserInput", questions=[{"question": "Which?"}]).payload == {"question": "Which?"}


def test_tokens_and_windows_are_notes():
    total = {"totalTokens": 100, "inputTokens": 90, "outputTokens": 10, "cachedInputTokens": 50}
    usage = {"total": total, "last": {"totalTokens": 50}, "modelContextWindow": 200}
    told = said("thread/tokenUsage/updated", tokenUsage=usage)
    assert told.kind == "note"
    assert (told.payload["total"], told.payload["cached"], told.payload["context_used"]) == (100, 50, 0.25)
    limits = said("account/rateLimits/updated", rateLimits={"primary": {"usedPercent": 100, "resetsAt": 9}})
    assert limits.flags == FlagUpdate(usage_limited=True, resets_at=9 * NS)


def test_a_sub_agent_is_a_task_of_its_parent():
    child = {"parentThreadId": T, "childThreadId": "child", "threadId": "child"}
    began = said("thread/status/changed", **child, status={"type": "active", "activeFlags": []})
    assert (began.kind, began.task, began.session) == ("task_began", "child", T)
    assert said("thread/status/changed", **child, status={"type": "idle"}).kind == "task_ended"
    waits = said("thread/status/changed", **child, status={"type": "active", "activeFlags": ["waitingOnApproval"]})
    assert (waits.kind, waits.state) == ("state", "waiting_approval")


def test_a_lost_connection_is_reported():
    assert read_one_signal("app_server", {"method": CONNECTION_LOST}, hint=OWN_PROCESS).kind == "source_down"


def test_secrets_do_not_pass():
    token = "ghp_" + "a1B2" * 9
    told = said(
        TURN_LISTED_METHOD, turn={"status": "completed", "items": [{"type": "agentMessage", "text": f"Use {token}"}]}
    )
    assert token not in str(told)


@pytest.mark.parametrize("text", ["", "[]", "no json", "7", "[" * 9999])
def test_what_is_no_message_is_not_understood(text):
    assert read_one_signal("app_server", text).reason == "unsupported_signal"


@pytest.mark.parametrize(
    "message", [{"method": "hook/completed"}, {"method": "item/started", "params": {"item": 3}}, {}]
)
def test_chatter_says_nothing(message):
    assert read_signals("app_server", message) == []
