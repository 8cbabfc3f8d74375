"""Real shells with the integration of `visor setup shell`, compared with the same shells without it.

They report what they do, with proof, and nothing else about them changes, whatever else uses the prompt.
"""

import shutil
from pathlib import Path

import pytest

from tests.live.conftest import run_watched_tmux
from tests.live.polling import wait_until
from tests.live.robot_shells import SHELLS, live
from tests.live.shell_setup import ShellHome, ShellPane

LINES = (
    "false",
    "echo $? $_",
    "(exit 7) | true",
    "echo $? ${PIPESTATUS[*]}",
    f"echo {'wider-than-the-pane ' * 6}; sh -c 'kill -9 $$'",
)
EXIT_CODES = [1, 0, 0, 0, 137]
ZSH_LINES = (*LINES[:3], "echo $? ${pipestatus[*]}", LINES[4])
FISH_LINES = ("false", "echo $status", "sh -c 'exit 7' | true", "echo $pipestatus", LINES[4])
BASH = {
    "two rows and colours": r"PS1='\[\e[1;34m\]upper row\[\e[0m\]\n\[\e[1;32m\]left> \[\e[0m\]'",
    "a prompt command": "PROMPT_COMMAND='shown=$?;'; PS1='$shown:left> '",
    "two prompt commands": "PROMPT_COMMAND=('a=$?' 'b=${PIPESTATUS[*]}'); PS1='$a:${b// /,}:left> '",
    "a theme that resets the prompt": r"""
theme() { PS1="$?:left> "; }
PROMPT_COMMAND=theme PS0='${began:$((began=1,0)):0}'
""",
    "a trap that takes the time": """
starts() { timer=${timer:-$SECONDS}; }
stops() { unset timer; }
trap starts DEBUG
PROMPT_COMMAND=stops PS1='${timer-none}:left> '
""",
    "a framework of hooks": """
bash_preexec_imported=defined
returns() { return "$1"; }
hooks() { local ended=$? hook; for hook in "${precmd_functions[@]}"; do returns "$ended"; "$hook"; done; waits=1; }
before() { [[ -z $waits ]] || { waits=; echo "runs $(HISTTIMEFORMAT= history 1)"; }; }
mine() { shown=$?; }
precmd_functions=(mine)
trap before DEBUG
PROMPT_COMMAND=hooks PS1='$shown:left> '
""",
    "text before every command": "PS0='begins\\n'",
    "a trap for errors": "trap 'echo failed' ERR",
    "strange options": "set -u; set -a; set -T; shopt -s extdebug",
}
ZSH = {
    "plain": "",
    "two rows and colours": "PS1=$'%{\\e[1;34m%}upper row%{\\e[0m%}\\n%F{green}left> %f'; RPROMPT=right",
    "a theme that resets the prompt": 'precmd() { PROMPT="[$?]left> "; }',
    "hooks": """
mine() { shown=$?; }
autoload -Uz add-zsh-hook && add-zsh-hook precmd mine
setopt prompt_subst && PS1='[$shown]left> '
""",
    "a widget at the start of a line": "zle-line-init() { :; }; zle -N zle-line-init",
    "a prompt that shrinks": "zle-line-finish() { PROMPT='left> '; zle reset-prompt; }; zle -N zle-line-finish",
    "strange options": "setopt ksh_arrays sh_word_split no_unset extended_glob",
}
FISH = {
    "plain": "",
    "two rows and colours": "function fish_prompt; set_color blue; echo upper; set_color green; echo -n 'left> '; end",
    "hooks": """
function mine --on-event fish_postexec; set -g shown $status; end
function fish_prompt; echo -n "$shown:left> "; end
""",
}


@pytest.fixture(scope="module")
def fleet():
    with run_watched_tmux() as scene:
        scene.tmux.start_session("keep", "sleep 1000")
        scene.list_panes()
        yield scene


@pytest.fixture
def open_shell(fleet, tmp_path):
    """Return a function that opens a pane with a shell, with or without the integration."""

    def open_pane(shell: str, text: str = "", *, is_set_up: bool = True, **further: str) -> ShellPane:
        home = build_home(tmp_path / ("set-up" if is_set_up else "plain"), shell, text)
        return ShellPane(fleet, home.write_setup(fleet.visor.paths) if is_set_up else home, **further)

    return open_pane


def build_home(folder: Path, shell: str, text: str = "") -> ShellHome:
    if shutil.which(shell) is None:
        pytest.fail(f"{shell} is missing. Install it with: .ci/setup live")
    return ShellHome(folder, shell, f"{text}\n")


@pytest.fixture
def nonce(fleet) -> str:
    return Path(fleet.visor.paths.nonce_file).read_text().strip()


@pytest.mark.parametrize("shell", SHELLS)
def test_shell_activity_and_exit_codes_are_reported_and_proven(fleet, tmp_path, shell):
    integrated = ShellPane(fleet, build_home(tmp_path, shell).run_setup(fleet))
    integrated.run_lines("sh -c 'exit 3'")
    wait_until(lambda: integrated.is_at_prompt(3))
    integrated.type_line("echo 'a;b'; sleep 1000")
    wait_until(lambda: integrated.activity["kind"] == "command")
    assert (integrated.activity["command_line"], integrated.activity["is_proven"]) == ("echo 'a;b'; sleep 1000", True)
    integrated.press_keys("C-c")
    integrated.wait_for_prompt()
    wait_until(lambda: integrated.is_at_prompt(130))
    integrated.press_keys("-l", "never run")
    wait_until(lambda: "never run" in integrated.screen)
    integrated.press_keys("C-c")
    wait_until(lambda: integrated.screen.endswith("left>"))
    integrated.press_keys("Enter")
    integrated.run_lines("sh -c 'kill -9 $$'")
    wait_until(lambda: integrated.is_at_prompt(137))
    assert integrated.reported_exit_codes == [3, 130, 137]


@pytest.mark.parametrize("shell", SHELLS)
def test_the_working_directory_is_reported_for_any_name(open_shell, shell):
    integrated = open_shell(shell)
    integrated.run_lines("mkdir -p 'ü b;%41/✳'", "cd 'ü b;%41'", "cd ✳")
    start, *_, last = integrated.list_marks("cwd")
    assert last.text == f"{start.text}/ü b;%41/✳"
    assert last.params["host"]


@pytest.mark.parametrize(
    ("shell", "text", "lines"),
    [
        *(pytest.param("bash", text, LINES, id=name) for name, text in BASH.items()),
        *(pytest.param("zsh", text, ZSH_LINES, id=f"zsh, {name}", marks=live) for name, text in ZSH.items()),
        *(pytest.param("fish", text, FISH_LINES, id=f"fish, {name}", marks=live) for name, text in FISH.items()),
    ],
)
def test_the_shell_integration_is_invisible_and_changes_nothing_else(open_shell, nonce, shell, text, lines):
    integrated, plain = open_shell(shell, text), open_shell(shell, text, is_set_up=False)
    for pane in (integrated, plain):
        pane.run_lines(*lines[:-1])
        pane.press_keys("-l", lines[-1].removeprefix("echo "))
        pane.press_keys("C-a")  # editing a line wider than the pane goes wrong if the prompt's width is unknown
        pane.run_lines("echo ")
    assert integrated.screen == plain.screen
    assert (integrated.reported_lines, integrated.reported_exit_codes) == (list(lines), EXIT_CODES)
    assert {mark.params.get("nonce") for mark in integrated.marks if mark.kind.startswith("command_")} == {nonce}
    assert plain.reported_lines == []


@pytest.mark.parametrize("shell", SHELLS)
def test_a_line_with_special_characters_is_reported_as_typed(open_shell, shell):
    integrated = open_shell(shell)
    integrated.run_lines(r"echo 'a;b\c\\d \x41 %41' '' '✳ü' '☃'; true; echo nonce=1; true", "echo done")
    integrated.press_keys("-l", "echo 'one")
    integrated.press_keys("Enter")
    integrated.run_lines("two'")
    assert integrated.reported_lines[0] == r"echo 'a;b\c\\d \x41 %41' '' '✳ü' '☃'; true; echo nonce=1; true"
    assert "echo 'one two'" in integrated.reported_lines


def test_a_control_character_in_a_line_does_not_end_a_mark(open_shell):
    integrated = open_shell("bash")
    integrated.press_keys("-l", "echo '")
    for key in ("C-g", "Escape"):
        integrated.press_keys("C-v", key)
    integrated.run_lines("]133;D;0'", "false")
    assert integrated.reported_lines[0] == "echo '  ]133;D;0'"
    assert integrated.reported_exit_codes == [0, 1]


def test_a_line_missing_in_the_history_is_not_reported_as_the_previous_one(open_shell):
    integrated = open_shell("bash", "HISTCONTROL=ignoreboth")
    integrated.run_lines("echo one", " echo hidden", "echo two", "echo two", "set +o history", "echo three")
    assert integrated.reported_lines == ["echo one", "echo two", "set +o history"]
    assert integrated.reported_exit_codes == [0] * 6


def test_a_repeated_line_is_reported_if_it_is_unambiguous(open_shell):
    integrated = open_shell("bash", "HISTCONTROL=ignoredups:erasedups")
    integrated.run_lines("echo one", "echo one", " echo two", "echo one")
    assert integrated.reported_lines == ["echo one", "echo one", " echo two", "echo one"]


PASTED = ("echo one", "false", "# a comment", "for i in 1 2; do", "  echo $i", "done", "cd /", "(exit 3)", "pwd")
PASTED_COMMANDS = [
    ("echo one", 0),
    ("false", 1),
    ("for i in 1 2; do   echo $i; done", 0),
    ("cd /", 0),
    ("(exit 3)", 3),
    ("pwd", 0),
]


@pytest.mark.parametrize("paste", ["on", "off"])
@pytest.mark.parametrize(
    "text",
    [
        "",
        "PROMPT_COMMAND=('a=$?' 'b=1'); PS1='$a:left> '",
        "HISTCONTROL=ignoreboth; trap 'true' DEBUG",
        BASH["a framework of hooks"].replace("echo", "true"),
        "set -T; shopt -s extdebug; trap 'echo trapped' DEBUG",
    ],
    ids=["plain", "prompt commands", "a trap", "hooks", "a trap that prints everywhere"],
)
def test_each_pasted_line_is_reported_with_its_own_status(open_shell, text, paste):
    integrated = open_shell("bash", f"{text}\nbind 'set enable-bracketed-paste {paste}'")
    integrated.paste_lines(*PASTED)
    wait_until(lambda: len(integrated.reported_exit_codes) == len(PASTED_COMMANDS))
    assert list(zip(integrated.reported_lines, integrated.reported_exit_codes, strict=True)) == PASTED_COMMANDS


def test_a_pasted_line_is_reported_with_the_folder_that_it_ran_in(open_shell):
    integrated = open_shell("bash", "bind 'set enable-bracketed-paste on'")
    integrated.paste_lines("cd /", "pwd", "cd /usr", "pwd")
    wait_until(lambda: len(integrated.reported_exit_codes) == 4)
    kinds = [mark.text for mark in integrated.marks if mark.kind in ("cwd", "command_start") and mark.text]
    assert kinds[1:8] == ["cd /", "/", "pwd", "/", "cd /usr", "/usr", "pwd"]


ZSH_PRECMD = {
    "before": ("precmd() { print mine $? $pipestatus; }", ()),
    "later": ("", ("precmd() { print mine $? $pipestatus; }",)),
    "autoloaded": (
        "print 'print mine $? $pipestatus' > $HOME/precmd; fpath=($HOME $fpath); autoload -Uz precmd",
        (),
    ),
    "a hook before ours": ("", ("mine() { print mine $? $pipestatus; }; precmd_functions=(mine $precmd_functions)",)),
    "strange options": ("setopt ksh_arrays no_unset; precmd() { print mine $? ${pipestatus[*]}; }", ()),
}


@live
@pytest.mark.parametrize(("text", "lines"), ZSH_PRECMD.values(), ids=ZSH_PRECMD.keys())
def test_what_a_precmd_function_prints_is_not_output_of_the_command(open_shell, text, lines):
    integrated = open_shell("zsh", text).run_lines(*lines, "print shown; (exit 3) | (exit 4)")
    output = integrated.raw_output.rpartition(b"\x1b]133;C")[2]
    assert output.index(b"shown") < output.index(b"\x1b]133;D;4") < output.index(b"mine 4 3 4")


@live
def test_a_precmd_function_of_the_user_can_be_replaced_and_removed(open_shell):
    integrated = open_shell("zsh", "precmd() { print first; }")
    integrated.run_lines("precmd() { print second; }", "true", "unfunction precmd", "false", "true")
    assert integrated.reported_exit_codes == [0, 0, 0, 1, 0]
    assert [row for row in integrated.screen.split("\n") if row in ("first", "second")] == ["first", "second", "second"]


def test_a_prompt_command_that_is_set_later_keeps_exit_codes_correct(open_shell):
    integrated = open_shell("bash")
    integrated.run_lines('PROMPT_COMMAND="true; $PROMPT_COMMAND"', "false", "PROMPT_COMMAND=true", "(exit 4)")
    assert integrated.reported_exit_codes == [0, 1, 0, 4]


def test_a_shell_with_errexit_survives_the_integration(open_shell):
    integrated = open_shell("bash")
    integrated.run_lines("set -e", "! true", "echo $?")
    assert integrated.reported_exit_codes == [0, 1, 0]


@pytest.mark.parametrize("shell", SHELLS)
def test_nested_and_replaced_shells_report_too(open_shell, nonce, shell):
    integrated = open_shell(shell)
    integrated.run_lines(shell, "sh -c 'exit 5'", "exit 4", f"exec {shell}", "sh -c 'exit 6'")
    wait_until(lambda: integrated.is_at_prompt(6))
    ends = integrated.list_marks("command_end")
    assert list(dict.fromkeys(mark.exit_code for mark in ends if mark.exit_code)) == [5, 4, 6]
    assert len({mark.params["aid"] for mark in ends}) == 2
    assert {mark.params["nonce"] for mark in ends} == {nonce}


@pytest.mark.parametrize("shell", SHELLS)
def test_programs_do_not_inherit_the_nonce(open_shell, nonce, shell):
    integrated = open_shell(shell, "set -a" if shell == "bash" else "")
    integrated.run_lines("env > environment", "sh -c 'set' >> environment")
    environment = (Path(integrated.list_marks("cwd")[0].text) / "environment").read_text()
    assert nonce not in environment


@pytest.mark.parametrize("shell", SHELLS)
def test_no_marks_are_printed_on_a_dumb_terminal_or_outside_tmux(open_shell, shell):
    dumb, outside = open_shell(shell, TERM="dumb"), open_shell(shell, TMUX="")
    for pane in (dumb, outside):
        pane.run_lines("false")
        assert [
            mark for mark in pane.marks if mark.kind in ("prompt_start", "command_end") and "nonce" in mark.params
        ] == []


def test_marks_without_the_nonce_are_reported_but_not_proven(fleet, open_shell, tmp_path):
    integrated = open_shell("bash")
    text = (tmp_path / "set-up" / ".bashrc").read_text()
    (tmp_path / "set-up" / ".bashrc").write_text(text.replace(fleet.visor.paths.nonce_file, "/nowhere/nonce"))
    integrated.run_lines("exec bash", "(exit 3)")
    assert integrated.list_marks("command_end")[-1].exit_code == 3
    assert "nonce" not in integrated.list_marks("command_end")[-1].params
