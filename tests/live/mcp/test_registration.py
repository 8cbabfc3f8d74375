"""The agents themselves find the server that `visor setup agents --mcp` registers, and lose it with `--remove`."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from termvisor.testing.private_tmux import make_short_folder
from termvisor.testing.visor_instance import VisorInstance, run_instance
from tests.live.agents.agent_programs import CLAUDE, CODEX, COPILOT, GEMINI, OPENCODE, AgentProgram
from tests.pattern_cache import install_pattern_cache

pytestmark = pytest.mark.live
AGENTS: dict[str, tuple[AgentProgram, str, str]] = {
    "claude_code": (CLAUDE, ".claude.json", "Connected"),
    "codex": (CODEX, ".codex/config.toml", "enabled"),
    "gemini": (GEMINI, ".gemini/settings.json", "visor mcp (stdio)"),
    "copilot": (COPILOT, ".copilot/mcp-config.json", "visor (local)"),
    "opencode": (OPENCODE, ".config/opencode/opencode.json", "connected"),
}


@pytest.mark.parametrize("name", AGENTS)
def test_an_agent_lists_the_server_until_it_is_removed(name: str) -> None:
    program, path, awaited = AGENTS[name]
    with make_short_folder() as folder, run_instance(folder, f"{folder}/none") as visor:
        install_pattern_cache(visor.paths)
        home = Path(folder) / "home"
        (home / path).parent.mkdir(parents=True)
        _install_command(visor, home)
        visor.allow_changes()
        visor.run_checked("setup", "agents", "--agent", name, "--mcp", "--yes")
        listed = _list_servers(program, visor)
        assert "visor" in listed
        assert awaited in listed
        visor.run_checked("setup", "agents", "--agent", name, "--remove", "--yes")
        # Claude Code writes its own file, with our entry in it, while it runs.
        rest = (home / path).read_text() if (home / path).exists() else ""
        assert "visor" not in rest.replace(folder, "")


def _install_command(visor: VisorInstance, home: Path) -> None:
    """Put a `visor` on the PATH, as an installation does."""
    script = home / "bin" / "visor"
    script.parent.mkdir()
    words = f"PYTHONPATH={shlex.quote(':'.join(sys.path))} {shlex.quote(sys.executable)}"
    script.write_text(f'#!/bin/sh\nexec env {words} -m termvisor "$@"\n')
    script.chmod(0o755)
    path = f"{script.parent}:{os.environ['PATH']}"
    visor.env = {**visor.env, "HOME": str(home), "PATH": path}
    for variable in ("XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        visor.env.pop(variable, None)  # type: ignore[attr-defined]


def _list_servers(program: AgentProgram, visor: VisorInstance) -> str:
    env = {**visor.env, **{name: value.format(model="http://127.0.0.1:9") for name, value in program.env.items()}}
    argv = [*program._build_argv(), "mcp", "list"]
    done = subprocess.run(
        argv,
        env=env,
        cwd=env["HOME"],
        capture_output=True,
        text=True,
        timeout=90,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    return done.stdout + done.stderr
