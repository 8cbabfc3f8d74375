"""Paths of Claude Code files."""

from termvisor.agents.adapters.adapter import ProcessInfo
from termvisor.agents.adapters.claude_code.log_locations import list_watched_paths
from termvisor.model.agent.signal import ProcessHint


def process(cwd: str = "/home/dev/my.app", **env: str) -> ProcessInfo:
    return ProcessInfo(pid=42, pid_started=77, program="claude", argv=("claude",), cwd=cwd, env=env)


def test_its_registry_file_is_bound_to_the_process_and_transcripts_to_the_folder() -> None:
    registry, transcript, subagents = list_watched_paths(process(HOME="/home/dev"))
    assert (registry.folder, registry.pattern) == ("/home/dev/.claude/sessions", "42.json")
    assert registry.hint == ProcessHint(pid=42, pid_started=77)
    assert (transcript.folder, transcript.pattern) == ("/home/dev/.claude/projects/-home-dev-my-app", "*.jsonl")
    assert transcript.hint == ProcessHint(cwd="/home/dev/my.app")
    assert not transcript.from_start
    assert (subagents.folder, subagents.pattern, subagents.is_deep) == (transcript.folder, "agent-*.jsonl", True)


def test_its_folder_may_be_moved() -> None:
    moved = list_watched_paths(process(HOME="/home/dev", CLAUDE_CONFIG_DIR="/srv/claude"))
    assert {one.folder.rpartition("/claude/")[0] for one in moved} == {"/srv"}
    beside = list_watched_paths(process(CLAUDE_CONFIG_DIR="../conf"))
    assert beside[0].folder == "/home/dev/conf/sessions"


def test_where_its_home_is_not_known_nothing_is_watched() -> None:
    assert list_watched_paths(process()) == []


def test_a_folder_whose_name_is_too_long_is_not_guessed() -> None:
    assert [one.source for one in list_watched_paths(process("/" + "x" * 300, HOME="/home/dev"))] == ["registry"]
