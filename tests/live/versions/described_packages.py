"""Packages of agents that are described by data, with the settings that connect them to the scripted model."""

import json

from termvisor.agents.adapters.description_files import load_builtin_descriptions
from tests.live.agents.agent_programs import AgentProgram
from tests.live.agents.model.openai_chat import TEXT_MODEL
from tests.live.versions.packages import AgentPackage

_ADAPTERS = load_builtin_descriptions().adapters
_KILO_PROVIDER = {
    "npm": "@ai-sdk/openai-compatible",
    "name": "Scripted",
    "options": {"baseURL": "@MODEL@/v1", "apiKey": "dummy"},
    "models": {"scripted-model": {"name": "Scripted", "limit": {"context": 100_000, "output": 8000}}},
}
_KILO_SETTINGS = {
    "autoupdate": False,
    "share": "disabled",
    "model": "scripted/scripted-model",
    "small_model": "scripted/scripted-model",
    "enabled_providers": ["scripted"],
    "permission": {"bash": "ask", "edit": "ask"},
    "provider": {"scripted": _KILO_PROVIDER},
}

DESCRIBED_PACKAGES = {
    "kilo": AgentPackage(
        adapter=_ADAPTERS["kilo"],
        program=AgentProgram(
            "kilo",
            "",
            (),
            {
                "KILO_DISABLE_AUTOUPDATE": "1",
                "KILO_DISABLE_MODELS_FETCH": "1",
                "KILO_DISABLE_DEFAULT_PLUGINS": "1",
                "KILO_DISABLE_SESSION_INGEST": "1",
                "KILO_TELEMETRY_LEVEL": "off",
                "KILO_MODELS_URL": "{model}",
            },
        ),
        package="@kilocode/cli@{}",
        companions=("@kilocode/cli-linux-x64@{}",),
        programs=("@kilocode/cli-linux-x64/bin/kilo",),
        home_files={".config/kilo/kilo.json": json.dumps(_KILO_SETTINGS)},
        question='question {"questions":[{"question":"Which database?","header":"DB","options":'
        '[{"label":"pg","description":"large"},{"label":"lite","description":"small"}]}]}',
        interrupt_keys=("Escape", "Escape"),
        refuse_keys=("Escape", "Enter"),  # Escape asks for a reason
    ),
    "aider": AgentPackage(
        adapter=_ADAPTERS["aider"],
        program=AgentProgram(
            "aider",
            "",
            (
                *("--model", f"openai/{TEXT_MODEL}", "--no-git", "--map-tokens", "0", "--edit-format", "diff"),
                *("--analytics-disable", "--no-check-update", "--no-show-release-notes", "--no-show-model-warnings"),
            ),
            {
                "OPENAI_API_BASE": "{model}/v1",
                "OPENAI_API_KEY": "dummy",
                "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            },
        ),
        package="aider-chat=={}",
        is_python=True,
        programs=("bin/aider",),
        compact_command="",
        interrupt_keys=("C-c",),
        refuse_keys=("n", "Enter"),
        runs_commands_after_turn=True,
    ),
}
