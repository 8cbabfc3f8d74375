"""The Claude Code adapter as a whole: contract and declared sources."""

import pytest

from termvisor.agents.adapters.adapter import Adapter, ProcessInfo, SourceRecord, is_supported_contract
from termvisor.agents.adapters.claude_code import ADAPTER
from termvisor.agents.adapters.claude_code.adapter import find_process, list_watched_paths
from termvisor.agents.state.signal_admission import find_rejection_reason
from termvisor.model.agent.signal import ProcessHint
from tests.builtin_thresholds import DEFAULT_THRESHOLDS
from tests.unit.agents.adapters.claude_code.claude_inputs import NOW, SESSION, read_source_record

DEEP = '{"event":"Stop","type":"user","pid":1,"message":{"content":' + "[" * 100_000
GARBAGE = ("{", "[]", "null", '"x"', '{"pid":"one"}', '{"event":5}', '{"type":[]}', "\x00", "🙃" * 2000, DEEP)


def test_the_adapter_has_a_supported_contract_version() -> None:
    adapter: Adapter = ADAPTER
    assert adapter.name == "claude_code"
    assert is_supported_contract(adapter.contract_version)


@pytest.mark.parametrize("source", ["registry", "hook", "transcript", "osc", "title"])
@pytest.mark.parametrize("text", GARBAGE, ids=range(len(GARBAGE)))
def test_garbage_gives_only_signals_that_are_accepted_and_no_state(source: str, text: str) -> None:
    signals = read_source_record(source, text)
    assert [find_rejection_reason(signal, DEFAULT_THRESHOLDS) for signal in signals] == [None] * len(signals)
    assert {signal.state for signal in signals} <= {None, "unknown"}


def test_a_record_of_an_unread_source_gives_no_signal() -> None:
    assert ADAPTER.read_record(SourceRecord(source="bell", text="", at=NOW)) == ()


def test_a_session_is_resumed_only_by_a_valid_id() -> None:
    assert ADAPTER.build_resume_command(SESSION) == ("claude", "--resume", SESSION)
    assert ADAPTER.build_resume_command("--dangerously-skip-permissions") == ()
    assert ADAPTER.build_resume_command("") == ()


NPM = "/usr/lib/node_modules/@anthropic-ai/claude-code/cli.js"


def build_process(program: str, *argv: str, pid: int = 42) -> ProcessInfo:
    return ProcessInfo(pid=pid, program=program, argv=argv)


SHELL = build_process("bash", "-bash", pid=1)


@pytest.mark.parametrize(
    "found",
    [
        build_process("claude", "claude"),
        build_process("claude", "/home/dev/.local/bin/claude", "--resume", "x"),
        build_process("claude", "my-agent"),
        build_process("2.1.325", "/home/dev/.local/share/claude/versions/2.1.325"),
        build_process("claude", "/x/node_modules/@anthropic-ai/claude-code-linux-x64/claude", "fix the build"),
        build_process("node", "node", NPM),
        build_process("MainThread", "node", NPM, "--continue"),
        build_process("node", "/usr/bin/node", "/usr/local/bin/claude"),
        build_process("node", "node", "/home/dev/work/node_modules/.bin/claude"),
        build_process("bun", "bun", "/x/@anthropic-ai/claude-code/cli-wrapper.cjs"),
        build_process("claude", "claude", "-p", "what is this"),
        build_process("claude", "claude", "attach", "b1"),
        build_process("", "claude"),
    ],
)
def test_a_claude_process_is_found(found: ProcessInfo) -> None:
    assert find_process([SHELL, found]) == found


@pytest.mark.parametrize(
    "other",
    [
        build_process("vim", "vim", "claude.md"),
        build_process("vim", "claude"),
        build_process("less", "less", "/usr/bin/claude"),
        build_process("bash", "bash", "claude"),
        build_process("node", "node", "claude.js"),
        build_process("node", "node", "/x/node_modules/other/cli.js", "claude"),
        build_process("npm exec @anthr", "npm exec @anthropic-ai/claude-code"),
        build_process("claude-squad", "claude-squad"),
        build_process("claude", "claude", "mcp", "serve"),
        build_process("claude", "claude", "update"),
        build_process("claude", "claude", "--version"),
        build_process("claude", "claude", "agents", "--json"),
        build_process("tmux: client", "tmux", "attach", "-t", "claude"),
        build_process("", "vim"),
        build_process("sh"),
    ],
)
def test_another_process_is_not_taken_for_claude(other: ProcessInfo) -> None:
    assert find_process([SHELL, other]) is None


def test_the_program_comes_before_its_start_script() -> None:
    script, native = build_process("node", "node", NPM, pid=2), build_process("claude", "claude", pid=3)
    assert find_process([SHELL, script, native]) == native


def test_an_interactive_process_comes_before_a_printing_one() -> None:
    outer, tool = build_process("claude", "claude", pid=2), build_process("claude", "claude", pid=3)
    assert find_process([build_process("claude", "claude", "-p", "x", pid=4), outer, tool]) == outer


def test_a_pane_without_processes_has_no_claude() -> None:
    assert find_process([]) is None


def build_process_in(cwd: str = "/home/dev/my.app", **env: str) -> ProcessInfo:
    return ProcessInfo(pid=42, pid_started=77, program="claude", argv=("claude",), cwd=cwd, env=env)


def test_registry_file_is_watched_for_the_process_and_transcripts_for_the_folder() -> None:
    registry, transcript, subagents = list_watched_paths(build_process_in(HOME="/home/dev"))
    assert (registry.folder, registry.pattern) == ("/home/dev/.claude/sessions", "42.json")
    assert registry.hint == ProcessHint(pid=42, pid_started=77)
    assert (transcript.folder, transcript.pattern) == ("/home/dev/.claude/projects/-home-dev-my-app", "*.jsonl")
    assert transcript.hint == ProcessHint(cwd="/home/dev/my.app")
    assert not transcript.from_start
    assert (subagents.folder, subagents.pattern, subagents.is_deep) == (transcript.folder, "agent-*.jsonl", True)


def test_claude_config_dir_moves_the_watched_folders() -> None:
    moved = list_watched_paths(build_process_in(HOME="/home/dev", CLAUDE_CONFIG_DIR="/srv/claude"))
    assert {one.folder.rpartition("/claude/")[0] for one in moved} == {"/srv"}
    relative = list_watched_paths(build_process_in(CLAUDE_CONFIG_DIR="../conf"))
    assert relative[0].folder == "/home/dev/conf/sessions"


def test_without_a_known_home_nothing_is_watched() -> None:
    assert list_watched_paths(build_process_in()) == []


def test_transcripts_of_a_folder_with_a_too_long_name_are_not_watched() -> None:
    assert [one.source for one in list_watched_paths(build_process_in("/" + "x" * 300, HOME="/home/dev"))] == [
        "registry"
    ]
