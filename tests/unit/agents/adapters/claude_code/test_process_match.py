"""Recognition of the Claude Code process."""

import pytest

from termvisor.agents.adapters.adapter import ProcessInfo
from termvisor.agents.adapters.claude_code.process_match import find_process

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
