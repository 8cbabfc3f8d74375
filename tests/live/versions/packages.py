"""Install any released version of an agent from its package registry, each into a folder of its own.

The folders are in `.parts/versions` of the checkout and are reused. No install script of an npm package is run; the
programs are native, JavaScript for node, or Python. Agents that are described by data are in `described_packages`.
"""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from termvisor.agents.adapters import claude_code, codex, copilot, gemini, opencode
from termvisor.agents.adapters.adapter import Adapter
from tests.live.agents import claude_pane, codex_home, hook_setup
from tests.live.agents.agent_programs import CLAUDE, CODEX, COPILOT, GEMINI, OPENCODE, AgentFolders, AgentProgram
from tests.live.versions.node_runtime import choose_node

FOLDER = Path(__file__).parents[3] / ".parts" / "versions"
PLATFORM = "linux-x64"
# Features that some versions have but do not enable: questions outside of the plan mode, and hooks.
_CODEX_FEATURES = "\n[features]\ndefault_mode_request_user_input = true\ncodex_hooks = true\n"


@dataclass(frozen=True)
class AgentPackage:
    """How one agent is installed and started in any version."""

    adapter: Adapter
    program: AgentProgram
    package: str
    """The package; ``{}`` is the version."""
    programs: tuple[str, ...]
    """Patterns of the program below `node_modules`, or below a Python environment; newest layout first."""
    former_package: str = ""
    """The package that has its older versions, if it was renamed."""
    prepare_hooks: Callable[[AgentFolders], None] | None = None
    """None if the agent has no hooks."""
    is_python: bool = False
    home_files: Mapping[str, str] = field(default_factory=dict)
    """Settings below the home by path; ``@MODEL@`` is the address of the model, ``@CWD@`` the working folder."""
    compact_command: str = "/compact"
    """Empty if it has none."""
    exit_command: str = "/exit"
    question: str = ""
    """A tool call that asks the user, as `<name> <JSON>`."""
    interrupt_keys: tuple[str, ...] = ("Escape",)
    refuse_keys: tuple[str, ...] = ("Escape",)
    runs_commands_after_turn: bool = False
    """A command that the model proposes is run when its reply has ended, and the model is not asked again."""
    hook_settings: str = ""
    """A file below the home that a version skips if it names an event which the version does not know."""
    notice_keys: tuple[str, ...] = ("Enter",)
    """Keys that leave a notice or a question at the first start."""
    settings: tuple[str, str] | None = None
    """A file below the home, and text to add to it."""
    companions: tuple[str, ...] = ()
    """Packages of the same version that not every version has: its native program, its plugin interface."""

    def install(self, version: str) -> AgentProgram:
        """Install this version, unless it is there, and return its program."""
        folder = FOLDER / f"{self.adapter.name}-{version}"
        if not (folder / ".ready").exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            run_installer = _run_pip if self.is_python else _run_npm
            names = [name.format(version) for name in (self.package, self.former_package) if name]
            if not any(run_installer(folder, [name]) for name in names):
                raise AssertionError(f"cannot install {' or '.join(names)}")
            for companion in self.companions:
                run_installer(folder, [companion.format(version)])
            (folder / ".ready").touch()
        programs = folder if self.is_python else folder / "node_modules"
        program = self._find_program(programs)
        node = choose_node(program, folder, _run_npm) if program.suffix == ".js" else self.program.node
        return replace(self.program, binary=str(program), node=node)

    def prepare(self, place: AgentFolders, program: AgentProgram) -> None:
        """Create the folders and settings of the program."""
        program.prepare(place)
        for path, text in self.home_files.items():
            place.write_home_file(path, text.replace("@MODEL@", place.model).replace("@CWD@", str(place.cwd)))

    def drop_unknown_hooks(self, place: AgentFolders, program: AgentProgram) -> None:
        """Keep the hooks whose events the program names."""
        if self.hook_settings:
            known, path = program.path.read_bytes(), place.home / self.hook_settings
            hooks = json.loads(path.read_text())["hooks"]
            kept = {event: commands for event, commands in hooks.items() if f'"{event}"'.encode() in known}
            place.write_home_file(self.hook_settings, {"hooks": kept})

    def _find_program(self, modules: Path) -> Path:
        found = [path for pattern in self.programs for path in sorted(modules.glob(pattern)) if path.is_file()]
        if not found:
            raise AssertionError(f"{modules} has none of {', '.join(self.programs)}")
        return found[0]


def _run_npm(folder: Path, packages: Sequence[str]) -> bool:
    options = ["--silent", "--no-audit", "--no-fund", "--no-progress", "--ignore-scripts", "--force"]
    run = subprocess.run(["npm", "install", *options, "--prefix", str(folder), *packages], check=False, timeout=600)
    return run.returncode == 0


def _run_pip(folder: Path, packages: Sequence[str]) -> bool:
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True, timeout=120)
    run = subprocess.run([folder / "bin/pip", "install", "--quiet", *packages], check=False, timeout=600)
    return run.returncode == 0


def _prepare_plugin_hooks(program: AgentProgram) -> Callable[[AgentFolders], None]:
    return lambda place: hook_setup.prepare_home(program, place)


PACKAGES = {
    "claude_code": AgentPackage(
        adapter=claude_code.ADAPTER,
        program=CLAUDE,
        package="@anthropic-ai/claude-code@{}",
        programs=(f"@anthropic-ai/claude-code-{PLATFORM}/claude", "@anthropic-ai/claude-code/cli.js"),
        prepare_hooks=claude_pane.prepare_home,
        hook_settings=".claude/settings.json",
        question='AskUserQuestion {"questions":[{"question":"Which database?","header":"DB","multiSelect":false,'
        '"options":[{"label":"pg","description":"large"},{"label":"lite","description":"small"}]}]}',
    ),
    "codex": AgentPackage(
        adapter=codex.ADAPTER,
        program=CODEX,
        package="@openai/codex@{}",
        companions=(f"@openai/codex-{PLATFORM}@npm:@openai/codex@{{}}-{PLATFORM}",),
        programs=(
            "@openai/codex*/vendor/x86_64-unknown-linux-musl/bin/codex",
            "@openai/codex*/vendor/x86_64-unknown-linux-musl/codex/codex",
        ),
        prepare_hooks=codex_home.prepare_home,
        settings=(".codex/config.toml", _CODEX_FEATURES),
        notice_keys=("Down", "Enter"),  # trusts new hooks
        exit_command="/quit",
        question='request_user_input {"questions":[{"id":"db","header":"DB","question":"Which database?",'
        '"options":[{"label":"pg","description":"large"},{"label":"lite","description":"small"}]}]}',
    ),
    "gemini": AgentPackage(
        adapter=gemini.ADAPTER,
        program=GEMINI,
        package="@google/gemini-cli@{}",
        programs=("@google/gemini-cli/bundle/gemini.js", "@google/gemini-cli/dist/index.js"),
        prepare_hooks=_prepare_plugin_hooks(GEMINI),
        compact_command="/compress",
        exit_command="/quit",
        question='ask_user {"questions":[{"question":"Which one","header":"DB","type":"choice","options":'
        '[{"label":"pg","description":"large"},{"label":"lite","description":"small"}]}]}',
    ),
    "opencode": AgentPackage(
        adapter=opencode.ADAPTER,
        program=OPENCODE,
        package="opencode-ai@{}",
        companions=("@opencode-ai/plugin@{}",),
        programs=(f"opencode-{PLATFORM}/bin/opencode",),
        prepare_hooks=_prepare_plugin_hooks(OPENCODE),
        question='question {"questions":[{"question":"Which database?","header":"DB","options":'
        '[{"label":"pg","description":"large"},{"label":"lite","description":"small"}]}]}',
        interrupt_keys=("Escape", "Escape"),
    ),
    "copilot": AgentPackage(
        adapter=copilot.ADAPTER,
        program=COPILOT,
        package="@github/copilot@{}",
        programs=(f"@github/copilot-{PLATFORM}/copilot", "@github/copilot/index.js"),
        prepare_hooks=_prepare_plugin_hooks(COPILOT),
        # Older versions read the first two fields, newer ones the others.
        question='ask_user {"question":"Which database?","choices":["pg","lite"],'
        '"message":"Which database?","requestedSchema":{"type":"object","properties":'
        '{"db":{"type":"string","title":"Database","enum":["pg","lite"]}},"required":["db"]}}',
        interrupt_keys=("C-c",),
    ),
}
