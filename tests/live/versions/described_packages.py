"""Packages of agents that are described by data, with the settings that connect them to the scripted model."""

import json

from termvisor.agents.adapters.description_files import load_builtin_descriptions
from tests.live.agents.agent_programs import AgentProgram
from tests.live.agents.model.openai_chat import TEXT_MODEL
from tests.live.versions.packages import PLATFORM, AgentPackage

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
_PI_MODELS = {
    "providers": {
        "scripted": {
            "baseUrl": "@MODEL@/v1",
            "api": "openai-completions",
            "apiKey": "dummy",
            "compat": {"supportsDeveloperRole": False, "supportsReasoningEffort": False},
            "models": [{"id": "scripted-model", "contextWindow": 100_000, "maxTokens": 8000}],
        }
    }
}
_PI_SETTINGS = {
    "defaultProvider": "scripted",
    "defaultModel": "scripted-model",
    "retry": {"maxRetries": 1},
    "enableInstallTelemetry": False,
}
_QWEN_SETTINGS = {
    "security": {"auth": {"selectedType": "openai"}},
    "general": {"disableAutoUpdate": True, "enableAutoUpdate": False},
    "privacy": {"usageStatisticsEnabled": False},
    "telemetry": {"enabled": False},
    "model": {"name": "scripted-model"},
    "tools": {"approvalMode": "default"},
    "ui": {"hideTips": True},
}
_CLINE_PROVIDERS = {
    "version": 1,
    "lastUsedProvider": "openai-compatible",
    "providers": {
        "openai-compatible": {
            "settings": {
                "provider": "openai-compatible",
                "model": "scripted-model",
                "baseUrl": "@MODEL@/v1",
                "apiKey": "dummy",
            },
            "updatedAt": "2026-01-01T00:00:00.000Z",
            "tokenSource": "manual",
        }
    },
}

DESCRIBED_PACKAGES = {
    "qwen_code": AgentPackage(
        adapter=_ADAPTERS["qwen_code"],
        program=AgentProgram(
            "qwen",
            "",
            (),
            {"OPENAI_API_KEY": "dummy", "OPENAI_BASE_URL": "{model}/v1", "OPENAI_MODEL": "scripted-model"},
        ),
        package="@qwen-code/qwen-code@{}",
        programs=("@qwen-code/qwen-code/cli.js", "@qwen-code/qwen-code/dist/index.js"),
        home_files={".qwen/settings.json": json.dumps(_QWEN_SETTINGS)},
        compact_command="/compress",
        exit_command="/quit",
        question='ask_user_question {"questions":[{"question":"Which database?","header":"DB","multiSelect":false,'
        '"options":[{"label":"pg","description":"large"},{"label":"lite","description":"small"}]}]}',
    ),
    "pi": AgentPackage(
        adapter=_ADAPTERS["pi"],
        program=AgentProgram("pi", "", (), {"PI_OFFLINE": "1", "PI_TELEMETRY": "0"}),
        package="@earendil-works/pi-coding-agent@{}",
        former_package="@mariozechner/pi-coding-agent@{}",
        programs=("@*/pi-coding-agent/dist/cli.js",),
        home_files={
            ".pi/agent/models.json": json.dumps(_PI_MODELS),
            ".pi/agent/settings.json": json.dumps(_PI_SETTINGS),
        },
        exit_command="/quit",
    ),
    "cline": AgentPackage(
        adapter=_ADAPTERS["cline"],
        program=AgentProgram(
            "cline",
            "",
            ("--auto-approve", "false"),
            {"CLINE_TELEMETRY_DISABLED": "1", "CLINE_NO_AUTO_UPDATE": "1"},
        ),
        package="cline@{}",
        companions=(f"@cline/cli-{PLATFORM}@{{}}",),
        programs=(f"@cline/cli-{PLATFORM}/bin/cline",),
        home_files={".cline/data/settings/providers.json": json.dumps(_CLINE_PROVIDERS)},
        question='ask_question {"question":"Which database?","options":["pg","lite"]}',
        refuse_keys=("n",),
        exit_command="/quit",
    ),
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
        companions=(f"@kilocode/cli-{PLATFORM}@{{}}",),
        programs=(f"@kilocode/cli-{PLATFORM}/bin/kilo",),
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
