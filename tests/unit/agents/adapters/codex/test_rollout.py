from termvisor.agents.adapters.adapter import Process
from termvisor.agents.adapters.codex import ADAPTER
from termvisor.clock import NS
from termvisor.model.agent.signal import FlagsTold, Hint
from tests.unit.agents.adapters.codex.told import AT, OWN, one, read

THREAD = "01a1e290-84e2-7552-9a96-bdc8cca6f404"
PATH = f"/home/dev/.codex/sessions/2026/11/16/rollout-2026-11-16T04-14-44-{THREAD}.jsonl"
META = {"id": THREAD, "cwd": "/src", "originator": "codex-tui", "cli_version": "0.166.0", "thread_source": "user"}


def line(kind, **payload):
    return {"timestamp": "2026-11-16T04:16:30.500Z", "type": kind, "payload": payload}


def said(kind, **payload):
    return one("rollout", line("event_msg", type=kind, **payload), path=PATH, hint=OWN)


def process(*words):
    return Process(pid=7, pid_started=77, argv=("codex", *words), cwd="/src", env={"HOME": "/home/dev"})


def test_one_thread_is_watched_where_the_command_line_proves_it():
    (watch,) = ADAPTER.watches(process("resume", THREAD))
    assert (watch.folder, watch.pattern) == ("/home/dev/.codex/sessions", f"rollout-*-{THREAD}.jsonl")
    assert (watch.kind, watch.is_deep, watch.hint) == ("lines", True, OWN)


def test_else_nothing_is_said_about_the_process():
    (watch,) = ADAPTER.watches(process())
    assert (watch.pattern, watch.hint) == ("rollout-*.jsonl", Hint())
    assert ADAPTER.watches(Process(pid=7, argv=("codex",))) == []


def test_a_turn_from_its_start_to_its_end():
    began = said("task_started", model_context_window=1000)
    assert (began.state, began.session, began.payload) == ("running", THREAD, {"context_size": 1000})
    assert began.event_at == 1_794_802_590_500 * 10**6
    assert said("task_complete", last_agent_message="Done.").payload == {"last_message": "Done."}
    assert said("turn_aborted", reason="interrupted").state == "idle"


def test_an_end_may_be_an_error():
    failed = said("task_complete", error={"message": "no", "codex_error_info": "usage_limit_exceeded"})
    assert (failed.state, failed.payload["error"], failed.flags.usage_limited) == ("error", "usage_limit", True)


def test_counts_and_limits_are_noted():
    info = {"total_token_usage": {"total_tokens": 30, "input_tokens": 20}, "model_context_window": 100}
    spent = {"primary": {"used_percent": 100.0, "resets_at": 1_794_813_410}}
    counted = said("token_count", info={**info, "last_token_usage": {"total_tokens": 25}}, rate_limits=spent)
    assert (counted.kind, counted.payload["total"], counted.payload["context_used"]) == ("note", 30, 0.25)
    assert counted.flags == FlagsTold(usage_limited=True, resets_at=1_794_813_410 * NS)


def test_the_model_and_a_compaction_are_noted():
    assert one("rollout", line("turn_context", model="gpt-6"), path=PATH, hint=OWN).payload == {"model": "gpt-6"}
    assert one("rollout", line("compacted"), path=PATH, hint=OWN).flags == FlagsTold(compacting=False)


def test_the_first_line_tells_the_folder_of_a_thread():
    first = one("rollout", line("session_meta", **META), path=PATH)
    assert (first.kind, first.session, first.hint) == ("note", THREAD, Hint(cwd="/src"))
    assert one("rollout", line("session_meta", **META), path=PATH, hint=OWN).hint == OWN


def test_threads_of_other_programs_are_not_ours():
    for other in ({"originator": "codex_exec"}, {"originator": "codex_vscode"}, {"thread_source": "subagent"}):
        assert read("rollout", line("session_meta", **{**META, **other}), path=PATH) == []


def test_strange_lines_do_no_harm():
    assert one("rollout", "{", path=PATH, hint=OWN).reason == "unsupported_signal"
    assert read("rollout", line("world_state"), path=PATH, hint=OWN) == []
    odd = {"timestamp": "yesterday", "type": "event_msg", "payload": {"type": "task_started"}}
    assert one("rollout", odd, path="x.jsonl", hint=OWN).event_at == AT


def test_of_a_thread_that_nobody_proved_only_what_it_used_is_told():
    info = {"total_token_usage": {"total_tokens": 30, "input_tokens": 20}}
    told = one("rollout", line("event_msg", type="token_count", info=info), path=PATH)
    assert (told.kind, told.session, told.payload["total"], told.hint) == ("note", THREAD, 30, Hint())
    assert one("rollout", line("turn_context", model="gpt-6"), path=PATH).payload == {"model": "gpt-6"}
    assert read("rollout", line("event_msg", type="task_started"), path=PATH) == []
