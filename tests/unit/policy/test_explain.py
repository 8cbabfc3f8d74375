from termvisor.policy.explain import explain_verdict
from termvisor.policy.policy_file import parse_policy
from tests.unit.policy.policy_requests import make_command_request

POLICY = parse_policy("""
[[rule]]
id = "two"
answer = "ask"
two_person = true
text = "Two pairs of eyes."
""")


def test_every_voice_is_told_also_those_that_said_nothing() -> None:
    assert explain_verdict(POLICY, make_command_request("rm a && ls")) == [
        "send_text by robot",
        "  deny list: nothing to say",
        "  hooks: nothing to say",
        "  rules: ask by two (Two pairs of eyes.)",
        "  commands: ask by delete (removes files that are named one by one: rm a)",
        "  capabilities: nothing to say",
        "  protected panes: nothing to say",
        "  quiet hours: nothing to say",
        "  rates: nothing to say",
        "  default: ask by others.input (a caller of the kind robot, an action of the kind send_text (risk: input))",
        "ask: Two pairs of eyes.",
        "two people must say yes; the daemon hears one user only, so it will expire",
    ]


def test_a_refusal_names_what_decided() -> None:
    assert explain_verdict(parse_policy(""), make_command_request("echo x >> ~/.ssh/config", "human"))[-1] == (
        "deny: /home/me/.ssh/config: never written (~/.ssh)"
    )
