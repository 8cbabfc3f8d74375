"""Start real shells in panes with only a test's setup.

The prompts are complex: two rows, colours, a right prompt. The marks are OSC 133, with or without a nonce.
"""

from pathlib import Path

BASH = r"""
HISTFILE=
PS1='\[\e[1;34m\]upper row\[\e[0m\]\n\[\e[1;32m\]left\[\e[0m\]> '
"""
BASH_MARKS = r"""
mark() { printf '\033]133;%s%s\007' "$1" "$NONCE"; }
PROMPT_COMMAND='status=$?; [ -z "$ran" ] || mark "D;$status"; ran=; mark A'
PS1="$PS1"'\[$(mark B)\]'
PS0='$(mark C)${none[ran=1,0]}'
"""
ZSH = r"""
HISTFILE= PROMPT_EOL_MARK=
setopt prompt_subst
PS1=$'%{\e[1;34m%}upper row%{\e[0m%}\n%{\e[1;32m%}left%{\e[0m%}> '
RPROMPT=$'%{\e[33m%}right%{\e[0m%}'
"""
ZSH_MARKS = r"""
mark() { printf '\033]133;%s%s\007' "$1" "$NONCE"; }
precmd() { local ended=$?; [[ -z $ran ]] || mark "D;$ended"; ran=; mark A }
preexec() { ran=1; mark C }
PS1="$PS1"'%{$(mark B)%}'
"""
FISH = r"""
set -g fish_greeting
set -g fish_history ''
function fish_prompt
    set_color blue; echo 'upper row'; set_color green; echo -n left; set_color normal; echo -n '> '
end
function fish_right_prompt
    set_color yellow; echo -n right; set_color normal
end
"""
FISH_MARKS = r"""
function mark; printf '\033]133;%s%s\007' $argv[1] "$NONCE"; end
function on_prompt --on-event fish_prompt; mark A; end
function on_command --on-event fish_preexec; mark C; end
function on_end --on-event fish_postexec; mark "D;$status"; end
"""


class ShellPrompt:
    """One shell: its setup without and with marks, and the command that reads the setup from ``{rc}``."""

    def __init__(self, name: str, plain: str, marks: str, command: str):
        self.name, self._plain, self._marks, self._command = name, plain, marks, command

    def build_command(self, home: Path, *, marks: bool = False, nonce: str = "") -> str:
        """Return a pane command that starts the shell as soon as a file `go` exists."""
        rc = home / ".zshrc"
        rc.write_text(f"{self._export_nonce(nonce)}{self._plain}{self._marks if marks else ''}")
        skip_fish_first_start(home)
        wait = f"cd {home} && until [ -e go ]; do sleep 0.02; done"
        return f"{wait}; exec env HOME={home} ZDOTDIR={home} XDG_CONFIG_HOME={home} {self._command.format(rc=rc)}"

    def _export_nonce(self, nonce: str) -> str:
        value = f";nonce={nonce}" if nonce else ""
        return f"set -g NONCE '{value}'\n" if self.name == "fish" else f"NONCE='{value}'\n"

    def __str__(self) -> str:
        return self.name


def skip_fish_first_start(home: Path) -> None:
    """Skip fish's first-start scan of all manual pages, which takes twenty seconds of CPU."""
    (home / ".local/share/fish/generated_completions").mkdir(parents=True, exist_ok=True)


SHELLS = (
    ShellPrompt("bash", BASH, BASH_MARKS, "bash --noprofile --rcfile {rc} -i"),
    ShellPrompt("zsh", ZSH, ZSH_MARKS, "zsh -d -i"),
    ShellPrompt("fish", FISH, FISH_MARKS, "fish --no-config -C 'source {rc}' -i"),
)
