"""What a new rule's file starts from. It is refused until it is filled in: nobody gets a rule by accident."""

PLACEHOLDER = "<fill in>"


def render_rule_file(name: str, agent: str = "") -> str:
    return f"""\
# A rule of your own. `visor rules lint` says what is missing; `visor rules test "<text>"` tries it.
id = "{name}"
since = "1"                # the version of this pack in which it first stood
agent = "{agent}"                 # only in panes of this agent, such as claude_code; empty for every pane
scope = "line"             # line: one line or screen row; stream: up to four printed lines
anchors = []               # plain texts, one of which stands in whatever matches: makes it cheap
pattern = '^{PLACEHOLDER} (?P<what>\\w+)$'
severity = "info"          # info, warning, error, critical
event = "{_suggest_event(name)}"
cooldown = 60              # seconds for which the same thing is not told again in a pane
remedy = ""                # the workflow that answers it; empty for none
why = "{PLACEHOLDER}: what it means, for a person"

[[hit]]                    # a text that it must find, and what it takes from it
text = "{PLACEHOLDER}"
captures = {{ what = "{PLACEHOLDER}" }}

[[miss]]                   # a text that looks like it and is not
text = "{PLACEHOLDER}"
why = "{PLACEHOLDER}"
"""


def render_pack_file(name: str) -> str:
    return f'name = "{name}"\nversion = "1"\ndescription = "Rules of our own."\n'


def _suggest_event(name: str) -> str:
    words = name.split(".")
    return ".".join(words[-2:] if len(words) > 1 else ["custom", *words])
