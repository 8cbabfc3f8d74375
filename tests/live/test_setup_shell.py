"""Real shells that `visor setup shell` set up, beside the same shells as they were: they tell what they do, with proof,
and nothing else about them changes, whatever else hangs on the prompt.
"""

import shutil
from pathlib import Path

import pytest

from tests.live.conftest import run_watched_tmux
from tests.live.polling import wait_until
from tests.live.shell_setup import ShellHome, ShellPane

live = pytest.mark.live
SHELLS = ["bash", pytest.param("zsh", marks=live), pytest.param("fish", marks=live)]
LINES = (
    "false",
    "echo $? $_",
    "(exit 7) | true",
    "echo $? ${PIPESTATUS[*]}",
    f"echo {'wider-than-the-pane ' * 6}; sh -c 'kill -9 $$'",
)
ENDS = [1, 0, 0, 0, 137]
ZSH_LINES = (*LINES[:3], "echo $? ${pipestatus[*]}", LINES[4])
FISH_LINES = ("false", "echo $status", "sh -c 'exit 7' | true", "echo $pipestatus", LINES[4])
BASH = {
    "two rows and colours": r"PS1='\[\e[1;34m\]upper row\[\e[0m\]\n\[\e[1;32m\]left> \[\e[0m\]'",
    "a prompt command": "PROMPT_COMMAND='shown=$?;'; PS1='$shown:left> '",
    "two prompt commands": "PROMPT_COMMAND=('a=$?' 'b=${PIPESTATUS[*]}'); PS1='$a:${b// /,}:left> '",
    "a theme that sets the prompt anew": r"""
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
    "a theme that sets the prompt anew": 'precmd() { PROMPT="[$?]left> "; }',
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
def sit(fleet, tmp_path):
    """Opens a pane with a shell that was set up, or was not."""

    def opened(shell: str, text: str = "", *, is_set_up: bool = True, **further: str) -> ShellPane:
        home = at_home(tmp_path / ("set-up" if is_set_up else "plain"), shell, text)
        return ShellPane(fleet, home.write_setup(fleet.visor.paths.nonce_file) if is_set_up else home, **further)

    return opened


def at_home(folder: Path, shell: str, text: str = "") -> ShellHome:
    if shutil.which(shell) is None:
        pytest.fail(f"{shell} is missing. Install it with: .ci/setup live")
    return ShellHome(folder, shell, f"{text}\n")


@pytest.fixture
def nonce(fleet) -> str:
    return Path(fleet.visor.paths.nonce_file).read_text().strip()


@pytest.mark.parametrize("shell", SHELLS)
def test_what_a_shell_does_is_known_and_proven(fleet, tmp_path, shell):
    one = ShellPane(fleet, at_home(tmp_path, shell).run_setup(fleet))
    one.run_lines("sh -c 'exit 3'")
    wait_until(lambda: one.is_at_prompt(3))
    one.type_line("echo 'a;b'; sleep 1000")
    wait_until(lambda: one.activity["kind"] == "command")
    assert (one.activity["command_line"], one.activity["is_proven"]) == ("echo 'a;b'; sleep 1000", True)
    one.press_keys("C-c")
    one.wait_for_prompt()
    wait_until(lambda: one.is_at_prompt(130))
    one.press_keys("-l", "never run")
    wait_until(lambda: "never run" in one.screen)
    one.press_keys("C-c")
    wait_until(lambda: one.screen.endswith("left>"))
    one.press_keys("Enter")
    one.run_lines("sh -c 'kill -9 $$'")
    wait_until(lambda: one.is_at_prompt(137))
    assert one.reported_exit_codes == [3, 130, 137]


@pytest.mark.parametrize("shell", SHELLS)
def test_the_folder_is_told_whatever_its_name(sit, shell):
    one = sit(shell)
    one.run_lines("mkdir -p 'ü b;%41/✳'", "cd 'ü b;%41'", "cd ✳")
    start, *_, last = one.list_marks("cwd")
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
def test_nothing_of_it_is_seen_and_nothing_else_changes(sit, nonce, shell, text, lines):
    one, other = sit(shell, text), sit(shell, text, is_set_up=False)
    for seat in (one, other):
        seat.run_lines(*lines[:-1])
        seat.press_keys("-l", lines[-1].removeprefix("echo "))
        seat.press_keys("C-a")  # who edits a line that is wider than the pane sees whether the prompt's width is known
        seat.run_lines("echo ")
    assert one.screen == other.screen
    assert (one.reported_lines, one.reported_exit_codes) == (list(lines), ENDS)
    assert {mark.params.get("nonce") for mark in one.marks if mark.kind.startswith("command_")} == {nonce}
    assert other.reported_lines == []


@pytest.mark.parametrize("shell", SHELLS)
def test_a_difficult_line_is_told_as_it_was_typed(sit, shell):
    one = sit(shell)
    one.run_lines(r"echo 'a;b\c\\d \x41 %41' '' '✳ü' '☃'; true; echo nonce=1; true", "echo done")
    one.press_keys("-l", "echo 'one")
    one.press_keys("Enter")
    one.run_lines("two'")
    assert one.reported_lines[0] == r"echo 'a;b\c\\d \x41 %41' '' '✳ü' '☃'; true; echo nonce=1; true"
    assert "echo 'one two'" in one.reported_lines


def test_a_control_character_in_a_line_ends_no_mark(sit):
    one = sit("bash")
    one.press_keys("-l", "echo '")
    for key in ("C-g", "Escape"):
        one.press_keys("C-v", key)
    one.run_lines("]133;D;0'", "false")
    assert one.reported_lines[0] == "echo '  ]133;D;0'"
    assert one.reported_exit_codes == [0, 1]


def test_a_line_that_the_history_did_not_take_is_not_told_as_the_one_before(sit):
    one = sit("bash", "HISTCONTROL=ignoreboth")
    one.run_lines("echo one", " echo hidden", "echo two", "echo two", "set +o history", "echo three")
    assert one.reported_lines == ["echo one", "echo two", "set +o history"]
    assert one.reported_exit_codes == [0] * 6


def test_a_repeated_line_is_told_where_it_can_be_no_other(sit):
    one = sit("bash", "HISTCONTROL=ignoredups:erasedups")
    one.run_lines("echo one", "echo one", " echo two", "echo one")
    assert one.reported_lines == ["echo one", "echo one", " echo two", "echo one"]


def test_a_prompt_command_that_is_set_later_spoils_no_status(sit):
    one = sit("bash")
    one.run_lines('PROMPT_COMMAND="true; $PROMPT_COMMAND"', "false", "PROMPT_COMMAND=true", "(exit 4)")
    assert one.reported_exit_codes == [0, 1, 0, 4]


def test_a_shell_that_gives_up_on_errors_lives_on(sit):
    one = sit("bash")
    one.run_lines("set -e", "! true", "echo $?")
    assert one.reported_exit_codes == [0, 1, 0]


@pytest.mark.parametrize("shell", SHELLS)
def test_shells_within_and_after_it_tell_too(sit, nonce, shell):
    one = sit(shell)
    one.run_lines(shell, "sh -c 'exit 5'", "exit 4", f"exec {shell}", "sh -c 'exit 6'")
    wait_until(lambda: one.is_at_prompt(6))
    ends = one.list_marks("command_end")
    assert list(dict.fromkeys(mark.exit_code for mark in ends if mark.exit_code)) == [5, 4, 6]
    assert len({mark.params["aid"] for mark in ends}) == 2
    assert {mark.params["nonce"] for mark in ends} == {nonce}


@pytest.mark.parametrize("shell", SHELLS)
def test_programs_do_not_inherit_the_nonce(sit, nonce, shell):
    one = sit(shell, "set -a" if shell == "bash" else "")
    one.run_lines("env > environment", "sh -c 'set' >> environment")
    environment = (Path(one.list_marks("cwd")[0].text) / "environment").read_text()
    assert nonce not in environment


@pytest.mark.parametrize("shell", SHELLS)
def test_it_is_silent_where_nobody_understands_it(sit, shell):
    dumb, foreign = sit(shell, TERM="dumb"), sit(shell, TMUX="")
    for one in (dumb, foreign):
        one.run_lines("false")
        assert [
            mark for mark in one.marks if mark.kind in ("prompt_start", "command_end") and "nonce" in mark.params
        ] == []


def test_without_the_nonce_marks_are_told_but_prove_nothing(fleet, sit, tmp_path):
    one = sit("bash")
    text = (tmp_path / "set-up" / ".bashrc").read_text()
    (tmp_path / "set-up" / ".bashrc").write_text(text.replace(fleet.visor.paths.nonce_file, "/nowhere/nonce"))
    one.run_lines("exec bash", "(exit 3)")
    assert one.list_marks("command_end")[-1].exit_code == 3
    assert "nonce" not in one.list_marks("command_end")[-1].params
