"""Render the file of a new rule. It is rejected until all placeholders are filled in."""

PLACEHOLDER = "<fill in>"


def render_rule_file(name: str, agent: str = "") -> str:
    return f"""\
# A rule of your own. `visor rules lint` reports what is missing; `visor rules test "<text>"` tests it.
id = "{name}"
since = "1"                # the first version of this pack that has the rule
agent = "{agent}"                 # only in panes of this agent, such as claude_code; empty for every pane
scope = "line"             # line: one line or screen row; stream: up to four printed lines
anchors = []               # plain texts; every match contains one of them: makes the rule cheap
pattern = '^{PLACEHOLDER} (?P<what>\\w+)$'
severity = "info"          # info, warning, error, critical
event = "{_suggest_event(name)}"
cooldown = 60              # seconds before the same event is reported again in a pane
remedy = ""                # the workflow that handles it; empty for none
why = "{PLACEHOLDER}: what it means, for a person"

[[hit]]                    # a text that it must match, and its captures
text = "{PLACEHOLDER}"
captures = {{ what = "{PLACEHOLDER}" }}

[[miss]]                   # a similar text that it must not match
text = "{PLACEHOLDER}"
why = "{PLACEHOLDER}"
"""


def render_pack_file(name: str) -> str:
    return f'name = "{name}"\nversion = "1"\ndescription = "Rules of our own."\n'


def _suggest_event(name: str) -> str:
    words = name.split(".")
    return ".".join(words[-2:] if len(words) > 1 else ["custom", *words])
