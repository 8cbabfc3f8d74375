"""A user's rule for a screen of Codex."""

USER_RULE = """
id = "{name}"
since = "1"
agent = "codex"
scope = "screen"
part = "last"
pattern = '^• (?P<question>All done)'
state = "waiting_input"
order = 1
why = "My own prompt asks for this."
[[hit]]
text = '• All done'
captures = {{ question = "All done" }}
[[miss]]
text = '• Not all done'
"""
