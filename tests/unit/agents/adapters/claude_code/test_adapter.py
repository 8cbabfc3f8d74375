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


def test_it_is_an_adapter_of_this_contract() -> None:
    adapter: Adapter = ADAPTER
    assert adapter.name == "claude_code"
    assert is_supported_contract(adapter.contract_version)


@pytest.mark.parametrize("source", ["registry", "hook", "transcript", "osc", "title"])
@pytest.mark.parametrize("text", GARBAGE, ids=range(len(GARBAGE)))
def test_whatever_stands_there_is_read_without_harm_and_could_be_stored(source: str, text: str) -> None:
    said = read_source_record(source, text)
    assert [find_rejection_reason(signal, DEFAULT_THRESHOLDS) for signal in said] == [None] * len(said)
    assert {signal.state for signal in said} <= {None, "unknown"}


def test_a_source_that_is_not_read_says_nothing() -> None:
    assert ADAPTER.read_record(SourceRecord(source="bell", text="", at=NOW)) == ()


def test_a_session_is_resumed_by_its_id_and_by_nothing_else() -> None:
    assert ADAPTER.build_resume_command(SESSION) == ("claude", "--resume", SESSION)
    assert ADAPTER.build_resume_command("--dangerously-skip-permissions") == ()
    assert ADAPTER.build_resume_command("") == ()


NPM = "/usr/lib/node_modules/@anthropic-ai/claude-code/cli.js"


def process(program: str, *argv: str, pid: int = 42) -> ProcessInfo:
    return ProcessInfo(pid=pid, program=program, argv=argv)


SHELL = process("bash", "-bash", pid=1)


@pytest.mark.parametrize(
    "found",
    [
        process("claude", "claude"),
        process("claude", "/home/dev/.local/bin/claude", "--resume", "x"),
        process("claude", "my-agent"),
        process("2.1.325", "/home/dev/.local/share/claude/versions/2.1.325"),
        process("claude", "/x/node_modules/@anthropic-ai/claude-code-linux-x64/claude", "fix the build"),
        process("node", "node", NPM),
        process("MainThread", "node", NPM, "--continue"),
        process("node", "/usr/bin/node", "/usr/local/bin/claude"),
        process("node", "node", "/home/dev/work/node_modules/.bin/claude"),
        process("bun", "bun", "/x/@anthropic-ai/claude-code/cli-wrapper.cjs"),
        process("claude", "claude", "-p", "what is this"),
        process("claude", "claude", "attach", "b1"),
        process("", "claude"),
    ],
)
def test_it_is_recognised(found: ProcessInfo) -> None:
    assert find_process([SHELL, found]) == found


@pytest.mark.parametrize(
    "other",
    [
        process("vim", "vim", "claude.md"),
        process("vim", "claude"),
        process("less", "less", "/usr/bin/claude"),
        process("bash", "bash", "claude"),
        process("node", "node", "claude.js"),
        process("node", "node", "/x/node_modules/other/cli.js", "claude"),
        process("npm exec @anthr", "npm exec @anthropic-ai/claude-code"),
        process("claude-squad", "claude-squad"),
        process("claude", "claude", "mcp", "serve"),
        process("claude", "claude", "update"),
        process("claude", "claude", "--version"),
        process("claude", "claude", "agents", "--json"),
        process("tmux: client", "tmux", "attach", "-t", "claude"),
        process("", "vim"),
        process("sh"),
    ],
)
def test_something_else_is_not(other: ProcessInfo) -> None:
    assert find_process([SHELL, other]) is None


def test_the_program_comes_before_its_start_script() -> None:
    script, native = process("node", "node", NPM, pid=2), process("claude", "claude", pid=3)
    assert find_process([SHELL, script, native]) == native


def test_an_interactive_process_comes_before_a_printing_one() -> None:
    outer, tool = process("claude", "claude", pid=2), process("claude", "claude", pid=3)
    assert find_process([process("claude", "claude", "-p", "x", pid=4), outer, tool]) == outer


def test_an_empty_pane_has_none() -> None:
    assert find_process([]) is None


def process_in(cwd: str = "/home/dev/my.app", **env: str) -> ProcessInfo:
    return ProcessInfo(pid=42, pid_started=77, program="claude", argv=("claude",), cwd=cwd, env=env)


def test_its_registry_file_is_bound_to_the_process_and_transcripts_to_the_folder() -> None:
    registry, transcript, subagents = list_watched_paths(process_in(HOME="/home/dev"))
    assert (registry.folder, registry.pattern) == ("/home/dev/.claude/sessions", "42.json")
    assert registry.hint == ProcessHint(pid=42, pid_started=77)
    assert (transcript.folder, transcript.pattern) == ("/home/dev/.claude/projects/-home-dev-my-app", "*.jsonl")
    assert transcript.hint == ProcessHint(cwd="/home/dev/my.app")
    assert not transcript.from_start
    assert (subagents.folder, subagents.pattern, subagents.is_deep) == (transcript.folder, "agent-*.jsonl", True)


def test_its_folder_may_be_moved() -> None:
    moved = list_watched_paths(process_in(HOME="/home/dev", CLAUDE_CONFIG_DIR="/srv/claude"))
    assert {one.folder.rpartition("/claude/")[0] for one in moved} == {"/srv"}
    beside = list_watched_paths(process_in(CLAUDE_CONFIG_DIR="../conf"))
    assert beside[0].folder == "/home/dev/conf/sessions"


def test_where_its_home_is_not_known_nothing_is_watched() -> None:
    assert list_watched_paths(process_in()) == []


def test_a_folder_whose_name_is_too_long_is_not_guessed() -> None:
    assert [one.source for one in list_watched_paths(process_in("/" + "x" * 300, HOME="/home/dev"))] == ["registry"]
