"""Declare the adapter for opencode, by SST: its evidence sources, its process and the port on its command line.

Evidence sources: with `--port`, its HTTP server, which reports every event and accepts answers; otherwise our plugin
that runs inside opencode and writes to the hook spool; and its screens.
"""

import re

from termvisor.agents.adapters.adapter import FULL_CAPABILITIES, ProcessInfo
from termvisor.agents.adapters.command_line import ProgramMatcher, SessionResume, get_option_value, split_words
from termvisor.agents.adapters.composed_adapter import ComposedAdapter
from termvisor.agents.adapters.opencode import hooks, screen
from termvisor.model.agent.evidence import HEURISTIC_SOURCES, build_native_source

PROGRAM_MATCHER = ProgramMatcher(
    program_names=frozenset({"opencode"}),
    script_pattern=r"/opencode-ai/bin/opencode(?:\.exe)?$|/\.?bin/opencode$",
    non_agent_commands=split_words(
        "acp agent auth completion console db debug export generate github import login logout mcp models "
        "plugin plug pr providers serve session stats uninstall upgrade web"
    ),
)
SESSION_RESUME = SessionResume(("opencode", "--session", "{}"), r"ses_[0-9A-Za-z]{8,64}")
_PORT_NUMBER = re.compile(r"[1-9]\d{0,4}")


def find_requested_port(process: ProcessInfo) -> int:
    """Return the port on the command line; 0 if there is none or the system chooses it."""
    port = get_option_value(("--port",), PROGRAM_MATCHER.get_arguments(process) or ())
    return int(port) if _PORT_NUMBER.fullmatch(port) else 0


ADAPTER = ComposedAdapter(
    name="opencode",
    capabilities=FULL_CAPABILITIES | {"native_approve", "native_send"},
    sources=(build_native_source("server", 1), build_native_source("hook", 2), *HEURISTIC_SOURCES),
    process_finder=PROGRAM_MATCHER.find_agent,
    title_matcher=lambda title: title == "OpenCode" or title.startswith("OC | "),
    readers={"hook": hooks.read_event, "server": hooks.read_event},
    screen_classifier=screen.SCREEN_CLASSIFIER,
    package_names=("opencode-ai", "opencode"),
    session_resume=SESSION_RESUME,
    resumed_session_finder=PROGRAM_MATCHER.build_session_finder(SESSION_RESUME, "-s", "--session"),
)
