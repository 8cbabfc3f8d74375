"""Declare the adapter for Cursor CLI (`cursor-agent`, also started as `agent`), by Anysphere.

Written from the vendor's documentation, not yet tested with the real program. Evidence sources: hooks, and the screen,
because no hook reports an approval dialog in the terminal. The process is a script, run by a bundled node under the
name of the command.
"""

from termvisor.agents.adapters.adapter import EVENT_DRIVEN_CAPABILITIES
from termvisor.agents.adapters.command_line import ProgramMatcher, SessionResume, split_words
from termvisor.agents.adapters.composed_adapter import ComposedAdapter
from termvisor.agents.adapters.cursor import hooks, screen
from termvisor.model.agent.evidence import HEURISTIC_SOURCES, build_native_source

PROGRAM_MATCHER = ProgramMatcher(
    program_names=frozenset({"cursor-agent"}),
    script_pattern=r"/cursor-agent/(?:versions/[^/]+/)?index\.js$",
    non_agent_commands=split_words(
        "login logout status whoami models update upgrade mcp about ls create-chat generate-rule rule"
    ),
)
SESSION_RESUME = SessionResume(("cursor-agent", "--resume={}"))

ADAPTER = ComposedAdapter(
    name="cursor",
    capabilities=frozenset(
        {*EVENT_DRIVEN_CAPABILITIES, "recognise", "signals", "look", "subtasks", "compaction", "resume"}
    )
    - {"supports_waiting_input"},
    sources=(build_native_source("hook", 1, has_holes=True), *HEURISTIC_SOURCES),
    process_finder=PROGRAM_MATCHER.find_agent,
    title_matcher=lambda title: title.startswith("Cursor Agent"),
    readers={"hook": hooks.read_hook},
    screen_classifier=screen.SCREEN_CLASSIFIER,
    session_resume=SESSION_RESUME,
    resumed_session_finder=PROGRAM_MATCHER.build_session_finder(SESSION_RESUME, "--resume"),
)
