"""Completions of a real zsh, typed in a real terminal."""

import shlex
import sys
from pathlib import Path

import pytest

from termvisor.ops.docs.completions import zsh
from termvisor.testing.private_tmux import PrivateTmux, run_private_tmux
from tests.unit.fake_daemon import build_environment, make_private_paths, run_fake_daemon
from tests.unit.wait_until import wait_until

_RC = "autoload -Uz compinit; compinit -u -D; unsetopt BEEP; source ~/visor.zsh; echo ready\n"


def test_the_tables_match_the_declarations() -> None:
    script = zsh.render_script()
    assert "'panes' 'list-panes'" in script
    assert "'logs --level' 'debug info warning error'" in script
    assert "' --format' 'auto json markdown plain'" in script
    assert "'get-text' '@pane'" in script


async def type_text(tmux: PrivateTmux, pane: str, text: str, wanted: str) -> None:
    """Type, press Tab, and wait until the screen reads as wanted; then clear it."""
    tmux("send-keys", "-t", pane, "-l", text)
    tmux("send-keys", "-t", pane, "Tab")
    await wait_until(lambda: wanted in tmux("capture-pane", "-p", "-t", pane))
    tmux("send-keys", "-t", pane, "C-c")
    tmux("send-keys", "-t", pane, "C-l")


@pytest.mark.live
async def test_zsh_completes_commands_groups_options_choices_and_panes(folder: str) -> None:
    home = Path(folder) / "home"
    home.mkdir()
    (home / ".zshrc").write_text(_RC)
    (home / "visor.zsh").write_text(zsh.render_script())
    with run_private_tmux(folder) as tmux, run_fake_daemon(folder):
        places = make_private_paths(folder)
        path = f"{Path(sys.executable).parent}:{build_environment(places)['PATH']}"
        needed = {name: value for name, value in build_environment(places).items() if name.startswith("VISOR_")}
        words = [f"{name}={value}" for name, value in (needed | {"HOME": str(home), "PATH": path}).items()]
        pane = tmux.start_session(command=shlex.join(["env", "-u", "ZDOTDIR", *words, "zsh", "-i"]))
        await type_text(tmux, pane, "", "ready")
        for text, wanted in (
            ("visor list-pan", "visor list-panes"),
            ("visor robot wait-f", "visor robot wait-for"),
            ("visor config se", "visor config set"),
            ("visor config set log_le", "visor config set log_level"),
            ("visor logs --lev", "visor logs --level"),
            ("visor logs --level w", "visor logs --level warning"),
            ("visor logs --level=w", "visor logs --level=warning"),
            ("visor panes --ses", "visor panes --session"),
            ("visor get-text ", "work:2 bash"),
        ):
            await type_text(tmux, pane, text, wanted)
