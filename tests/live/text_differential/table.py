"""All scenarios, read from programs.toml and typed.toml, and those that also run through a daemon."""

import tomllib
from pathlib import Path
from typing import Any

from tests.live.text_differential import sequences
from tests.live.text_differential.scenario import Group, Scenario

_DISPLAYS = {
    "python": (
        *("rich_progress", "rich_table", "rich_live", "rich_status", "rich_traceback", "tqdm", "tqdm_nested"),
        *("tqdm_positions", "alive_progress", "click", "docker", "agent", "prompts", "curses_like"),
    ),
    "node": ("ink", "listr", "ora", "bars", "lines"),
}
_DISPLAY_COMMANDS = {"python": '"$PYTHON" "$PROGRAMS/displays.py"', "node": 'node "$PROGRAMS/displays.mjs"'}


def _read_table(name: str) -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name(name).read_text())


def _build_programs(group: Group, commands: dict[str, str]) -> list[Scenario]:
    return [Scenario(name, group, command) for name, command in commands.items()]


def _build_sessions(group: Group, sessions: dict[str, dict[str, Any]]) -> list[Scenario]:
    return [Scenario(name, group, one["command"], tuple(one["steps"])) for name, one in sessions.items()]


def _build_shell_sessions(typed: dict[str, Any]) -> list[Scenario]:
    return [
        Scenario(f"{shell}_{name}", "typed", command, _insert_long(typed, (*steps, "exit<Enter>")))
        for shell, command in typed["shells"].items()
        for name, steps in (typed["edits"] | typed.get(shell, {})).items()
    ]


def _build_resizes(typed: dict[str, Any]) -> list[Scenario]:
    return [
        Scenario(f"resize_{output}_{name}", "resized", command, tuple(steps))
        for output, command in typed["outputs"].items()
        for name, steps in typed["resizes"].items()
    ] + [
        Scenario(f"resize_{shell}", "resized", command, _insert_long(typed, typed["shell_resizes"]["steps"]))
        for shell, command in typed["shells"].items()
    ]


def _insert_long(typed: dict[str, Any], steps: tuple[str, ...] | list[str]) -> tuple[str, ...]:
    return tuple(step.replace("<long>", typed["long"]) for step in steps)


def _build_displays() -> list[Scenario]:
    return [
        Scenario(f"{language}_{name}", "progress", f"{_DISPLAY_COMMANDS[language]} {name}")
        for language, names in _DISPLAYS.items()
        for name in names
    ]


def _build_all() -> tuple[Scenario, ...]:
    """Return all scenarios. Long outputs are last: a server with a large heap is slow to start further panes."""
    programs, typed = _read_table("programs.toml"), _read_table("typed.toml")
    command = _DISPLAY_COMMANDS["python"]
    return (
        *_build_resizes(typed),
        *_build_sessions("resized", typed["full_screen"]),
        *_build_shell_sessions(typed),
        *_build_sessions("typed", typed["interpreters"]),
        *_build_sessions("pagers", programs["pagers"]),
        *_build_programs("programs", programs["programs"]),
        *_build_displays(),
        *_build_programs("encodings", programs["encodings"]),
        *sequences.SCENARIOS,
        *_build_programs("long", {f"long_{name}": f"{command} {name}" for name in LONG_OUTPUTS}),
    )


LONG_OUTPUTS = ("numbered_lines", "coloured_lines", "unicode_lines")
"""Programs that print 60,000 lines."""
SCENARIOS = _build_all()
STORED_RUNS = frozenset(
    (
        *("apt_install-80", "pip_install-120", "npm_install-40", "uv_install-80", "git_gc-120", "pytest_quiet-80"),
        *("jest-120", "make_parallel-200", "ls_columns-80", "curl-40", "tput-80", "clear-80", "reset-120"),
        *("long_lines-80", "top_screen-80", "unicode_scripts-40", "git_log_patch-80", "git_rebase_editor-120"),
        *("less_normal_screen-40", "man_normal_screen-80", "vim-120", "bash_long_line_edited-40"),
        *("zsh_long_line_recalled-80", "fish_completion-80", "bash_history_search-40", "zsh_completion_list-120"),
        *(
            "fish_multi_line-80",
            "node_repl-80",
            "prompt_toolkit-40",
            "resize_bash-80",
            "resize_vim-80",
            "resize_box_wider-40",
        ),
        *(
            "resize_lines_narrower_and_back-80",
            "resize_bursts_wider-40",
            "python_rich_progress-80",
            "python_tqdm_positions-120",
        ),
        *("python_docker-40", "python_agent-120", "node_ink-80", "node_listr-40", "cut_cyrillic_columns-40"),
        *("cp850-80", "binary-80", "long_numbered_lines-80", "long_coloured_lines-120"),
        *("seq_region_status_bar-40", "seq_rewrite_two_rows-80"),
    )
)
"""Runs that are also stored by a daemon: some of every group."""
SAMPLE_RUNS = frozenset(
    (
        *("binary_again-80", "cp850-40", "latin1-40", "shift_jis-80", "cut_cyrillic_columns-40"),
        *("git_add_patch-80", "git_log_pager-40", "git_log_patch-40", "git_rebase_editor-40"),
        *("man_normal_screen-40", "more-40", "vim_shell-40", "less_normal_screen-40", "apt_install-80", "clear-80"),
        *("curl-40", "dd-40", "git_gc-80", "git_rebase-80", "jest-40", "npm_install-80", "reset-40"),
        *("tput-80", "sqlite_batch-80", "unicode_scripts-40", "many_short_writes-40", "node_bars-40", "node_ink-40"),
        *("node_listr-40", "node_ora-40", "python_agent-40", "python_alive_progress-40", "python_click-40"),
        *("python_curses_like-40", "python_docker-40", "python_rich_live-40"),
        *("python_rich_progress-40", "python_tqdm_nested-40", "python_tqdm_positions-40", "resize_bash-80"),
        *("resize_box_lower_and_back-40", "resize_fish-40", "resize_lines_narrower_and_back-80", "resize_zsh-80"),
        *("resize_short_lower_and_back-40", "bash_history_search-40", "bash_long_line_edited-40", "fish_multi_line-80"),
        *("bash_long_line_recalled-80", "bash_completion_list-80", "bash_wide_characters-40", "prompt_toolkit-40"),
        *("fish_completion_list-40", "fish_history_search-80", "fish_long_line_edited-40", "zsh_completion_list-40"),
        *("zsh_long_line_edited-40", "zsh_multi_line-80", "zsh_no_newline-40", "node_repl-40", "sqlite_repl-40"),
    )
)
"""Runs whose recordings `make test` decodes: short ones of every group."""
