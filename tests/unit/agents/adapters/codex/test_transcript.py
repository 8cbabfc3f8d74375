"""Rollout files of Codex: watched paths and signals."""

from termvisor.agents.adapters.adapter import ProcessInfo
from termvisor.agents.adapters.codex import ADAPTER
from termvisor.clock import NS
from termvisor.model.agent.signal import FlagUpdate, ProcessHint
from tests.unit.agents.adapters.codex.codex_records import OWN_PROCESS, READ_AT, read_one_signal, read_signals

THREAD = "01a1e290-84e2-7552-9a96-bdc8cca6f404"
PATH = f"/home/dev/.codex/sessions/2026/11/16/rollout-2026-11-16T04-14-44-{THREAD}.jsonl"
META = {"id": THREAD, "cwd": "/src", "originator": "codex-tui", "cli_version": "0.166.0", "thread_source": "user"}


def build_line(kind, **payload):
    return {"timestamp": "2026-11-16T04:16:30.500Z", "type": kind, "payload": payload}


def read_event(kind, **payload):
    return read_one_signal("rollout", build_line("event_msg", type=kind, **payload), path=PATH, hint=OWN_PROCESS)


def build_process(*arguments):
    return ProcessInfo(pid=7, pid_started=77, argv=("codex", *arguments), cwd="/src", env={"HOME": "/home/dev"})


def test_only_the_thread_named_on_the_command_line_is_watched():
    (watch,) = ADAPTER.list_watched_paths(build_process("resume", THREAD))
    assert (watch.folder, watch.pattern) == ("/home/dev/.codex/sessions", f"rollout-*-{THREAD}.jsonl")
    assert (watch.kind, watch.is_deep, watch.hint) == ("lines", True, OWN_PROCESS)


def test_without_a_resumed_thread_all_rollouts_are_watched_without_a_hint():
    (watch,) = ADAPTER.list_watched_paths(build_process())
    assert (watch.pattern, watch.hint) == ("rollout-*.jsonl", ProcessHint())
    assert ADAPTER.list_watched_paths(ProcessInfo(pid=7, argv=("codex",))) == []


def test_task_events_give_the_states_of_a_turn():
    began = read_event("task_started", model_context_window=1000)
    assert (began.state, began.session, began.payload) == ("running", THREAD, {"context_size": 1000})
    assert began.event_at == 1_794_802_590_500 * 10**6
    assert read_event("task_complete", last_agent_message="Done.").payload == {"last_message": "Done."}
    assert read_event("turn_aborted", reason="interrupted").state == "idle"


def test_a_completed_task_with_an_error_is_an_error_state():
    failed = read_event("task_complete", error={"message": "no", "codex_error_info": "usage_limit_exceeded"})
    assert (failed.state, failed.payload["error"], failed.flags.usage_limited) == ("error", "usage_limit", True)


def test_token_counts_and_rate_limits_are_a_note():
    info = {"total_token_usage": {"total_tokens": 30, "input_tokens": 20}, "model_context_window": 100}
    spent = {"primary": {"used_percent": 100.0, "resets_at": 1_794_813_410}}
    counted = read_event("token_count", info={**info, "last_token_usage": {"total_tokens": 25}}, rate_limits=spent)
    assert (counted.kind, counted.payload["total"], counted.payload["context_used"]) == ("note", 30, 0.25)
    assert counted.flags == FlagUpdate(usage_limited=True, resets_at=1_794_813_410 * NS)


def test_the_model_is_a_note_and_a_compaction_clears_its_flag():
    assert read_one_signal(
        "rollout", build_line("turn_context", model="gpt-6"), path=PATH, hint=OWN_PROCESS
    ).payload == {"model": "gpt-6"}
    assert read_one_signal("rollout", build_line("compacted"), path=PATH, hint=OWN_PROCESS).flags == FlagUpdate(
        compacting=False
    )


def test_the_first_line_has_the_folder_of_its_thread():
    first = read_one_signal("rollout", build_line("session_meta", **META), path=PATH)
    assert (first.kind, first.session, first.hint) == ("note", THREAD, ProcessHint(cwd="/src"))
    assert (
        read_one_signal("rollout", build_line("session_meta", **META), path=PATH, hint=OWN_PROCESS).hint == OWN_PROCESS
    )


def test_threads_of_other_programs_give_no_signal():
    for other in ({"originator": "codex_exec"}, {"originator": "codex_vscode"}, {"thread_source": "subagent"}):
        assert read_signals("rollout", build_line("session_meta", **{**META, **other}), path=PATH) == []


def test_malformed_and_unknown_lines_do_not_fail():
    assert read_one_signal("rollout", "{", path=PATH, hint=OWN_PROCESS).reason == "unsupported_signal"
    assert read_signals("rollout", build_line("world_state"), path=PATH, hint=OWN_PROCESS) == []
    odd = {"timestamp": "yesterday", "type": "event_msg", "payload": {"type": "task_started"}}
    assert read_one_signal("rollout", odd, path="x.jsonl", hint=OWN_PROCESS).event_at == READ_AT


def test_only_token_usage_of_an_unproven_thread_is_reported():
    info = {"total_token_usage": {"total_tokens": 30, "input_tokens": 20}}
    signal = read_one_signal("rollout", build_line("event_msg", type="token_count", info=info), path=PATH)
    assert (signal.kind, signal.session, signal.payload["total"], signal.hint) == ("note", THREAD, 30, ProcessHint())
    assert read_one_signal("rollout", build_line("turn_context", model="gpt-6"), path=PATH).payload == {
        "model": "gpt-6"
    }
    assert read_signals("rollout", build_line("event_msg", type="task_started"), path=PATH) == []
