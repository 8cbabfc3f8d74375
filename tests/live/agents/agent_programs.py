"""The real agents, each with its own home folder and connected only to the scripted model."""

import json
import os
import shlex
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

NODE_MODULES = Path(__file__).parents[3] / ".parts" / "agents" / "node_modules"
API_KEY = "dummy-key-for-the-scripted-model"
INSTALL_COMMAND = ".ci/setup live"


@dataclass(frozen=True)
class AgentFolders:
    """Home and working folder of one agent, and the address of its model."""

    folder: Path
    model: str

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def cwd(self) -> Path:
        return self.folder / "work"

    def write_home_file(self, name: str, content: str | dict[str, Any]) -> None:
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))


@dataclass(frozen=True)
class AgentProgram:
    """How one agent is started so that it only calls the scripted model."""

    name: str
    binary: str
    default_args: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=dict)
    node: str = "node"
    """The program that runs it if it is JavaScript."""

    @property
    def path(self) -> Path:
        path = NODE_MODULES / self.binary
        if not path.exists():
            raise AssertionError(f"{self.name} is not installed: run {INSTALL_COMMAND}")
        return path

    def build_command(self, place: AgentFolders, *more: str) -> str:
        """Return the command for a pane."""
        env = {
            "HOME": str(place.home),
            "TMPDIR": str(place.folder / "tmp"),
            "PATH": f"{place.folder / 'bin'}:/usr/local/bin:/usr/bin:/bin",
            "LANG": "C.UTF-8",
            **{name: value.format(model=place.model) for name, value in self.env.items()},
        }
        kept = [f"{name}={os.environ[name]}" for name in ("TERM", "TZ") if name in os.environ]
        given = [f"{name}={value}" for name, value in env.items()]
        words = ["env", "-i", *kept, *given, "TMUX=$TMUX", "TMUX_PANE=$TMUX_PANE", "TERM=$TERM", "TERM_PROGRAM=tmux"]
        quoted = " ".join(word if word.startswith("TMUX") or "=$" in word else shlex.quote(word) for word in words)
        run = " ".join(map(shlex.quote, [*self._build_argv(), *self.default_args, *more]))
        return f"cd {shlex.quote(str(place.cwd))} && exec {quoted} {run}"

    def _build_argv(self) -> list[str]:
        return [self.node, str(self.path)] if self.path.suffix == ".js" else [str(self.path)]

    def prepare(self, place: AgentFolders) -> None:
        """Create its folders and settings."""
        for folder in (place.home, place.cwd, place.folder / "tmp", place.folder / "bin"):
            folder.mkdir(parents=True, exist_ok=True)
        if self.name in _PREPARE_BY_NAME:
            _PREPARE_BY_NAME[self.name](place)
        if self.name == "opencode":
            _link_opencode_package(place, self.path.parents[2])


def _prepare_claude(place: AgentFolders) -> None:
    place.write_home_file(
        ".claude.json",
        {
            "hasCompletedOnboarding": True,
            "theme": "dark",
            "customApiKeyResponses": {"approved": [API_KEY[-20:]], "rejected": []},
            "projects": {str(place.cwd): {"hasTrustDialogAccepted": True}},
        },
    )


def _prepare_codex(place: AgentFolders) -> None:
    place.write_home_file(
        ".codex/config.toml",
        f"""model = "scripted-model"
model_provider = "scripted"
approval_policy = "on-request"
sandbox_mode = "workspace-write"
check_for_update_on_startup = false

[model_providers.scripted]
name = "Scripted"
base_url = "{place.model}/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
request_max_retries = 1
stream_max_retries = 1

[projects."{place.cwd}"]
trust_level = "trusted"

[analytics]
enabled = false
""",
    )


def _prepare_gemini(place: AgentFolders) -> None:
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": True}},
        "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
        "privacy": {"usageStatisticsEnabled": False},
        "ui": {"hideTips": True},
        "model": {"name": "gemini-2.5-flash"},
    }
    place.write_home_file(".gemini/settings.json", settings)
    place.write_home_file(".gemini/trustedFolders.json", {str(place.cwd): "TRUST_FOLDER"})


def _prepare_opencode(place: AgentFolders) -> None:
    models = {"scripted-model": {"name": "Scripted", "limit": {"context": 100_000, "output": 8000}}}
    options = {"baseURL": f"{place.model}/v1", "apiKey": "dummy"}
    provider = {"npm": "@ai-sdk/openai-compatible", "name": "Scripted", "options": options, "models": models}
    place.write_home_file(
        ".config/opencode/opencode.json",
        {
            "autoupdate": False,
            "share": "disabled",
            "model": "scripted/scripted-model",
            "small_model": "scripted/scripted-model",
            "enabled_providers": ["scripted"],
            "permission": {"bash": "ask", "edit": "ask"},
            "provider": {"scripted": provider},
        },
    )


def _link_opencode_package(place: AgentFolders, modules: Path) -> None:
    """Link and lock its plugin package: otherwise every start downloads it, which takes ten seconds of CPU."""
    link, package = place.home / ".config/opencode/node_modules", modules / "@opencode-ai/plugin/package.json"
    if package.exists() and not link.exists():  # a few versions were released without one
        link.symlink_to(modules)
        version = json.loads(package.read_text())["version"]
        wanted = {"dependencies": {"@opencode-ai/plugin": version}}
        place.write_home_file(".config/opencode/package.json", wanted)
        place.write_home_file(".config/opencode/package-lock.json", {"lockfileVersion": 3, "packages": {"": wanted}})


def _prepare_copilot(place: AgentFolders) -> None:
    trusted = [str(place.cwd)]
    place.write_home_file(
        ".copilot/settings.json", {"trustedFolders": trusted, "trusted_folders": trusted, "banner": "never"}
    )
    place.write_home_file(".copilot/config.json", {"trusted_folders": trusted, "banner": "never"})


_PREPARE_BY_NAME = {
    "claude": _prepare_claude,
    "codex": _prepare_codex,
    "gemini": _prepare_gemini,
    "opencode": _prepare_opencode,
    "copilot": _prepare_copilot,
}

CLAUDE = AgentProgram(
    "claude",
    "@anthropic-ai/claude-code-linux-x64/claude",
    ("--permission-mode", "default"),
    {
        "ANTHROPIC_BASE_URL": "{model}",
        "ANTHROPIC_API_KEY": API_KEY,
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_ERROR_REPORTING": "1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CODE_MAX_RETRIES": "1",
    },
)
CODEX = AgentProgram(
    "codex", "@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex", (), {"SCRIPTED_KEY": "dummy"}
)
GEMINI = AgentProgram(
    "gemini",
    "@google/gemini-cli/bundle/gemini.js",
    (),
    {"GEMINI_API_KEY": "dummy", "GOOGLE_GEMINI_BASE_URL": "{model}"},
)
OPENCODE = AgentProgram(
    "opencode",
    "opencode-linux-x64/bin/opencode",
    (),
    {
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
        "OPENCODE_MODELS_URL": "{model}",
    },
)
COPILOT = AgentProgram(
    "copilot",
    "@github/copilot-linux-x64/copilot",
    (),
    {
        "COPILOT_OFFLINE": "true",
        "COPILOT_PROVIDER_BASE_URL": "{model}/v1",
        "COPILOT_PROVIDER_TYPE": "openai",
        "COPILOT_PROVIDER_API_KEY": "dummy",
        "COPILOT_MODEL": "scripted-model",
        "COPILOT_AUTO_UPDATE": "false",
    },
)
PROGRAMS = (CLAUDE, CODEX, GEMINI, OPENCODE, COPILOT)
