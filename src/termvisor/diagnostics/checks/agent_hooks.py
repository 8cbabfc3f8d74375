"""The check `agent_hooks`: our hooks are in the agents' settings as they were set up, and what they run is there."""

from termvisor.diagnostics.checks.check import Finding, Hooks, Sight

_SET_UP = "`visor setup agents` shows the change and puts it right; `--remove` takes our hooks out."


class AgentsAreHeard:
    name = "agent_hooks"
    doc = (
        "The hooks of `visor setup agents` stand in the settings of every agent that is installed, as they would be"
        " set up now, and the program that they run is there."
    )

    async def look(self, sight: Sight) -> Finding:
        found = sight.hooks()
        if not found.files:
            return Finding(name=self.name, status="skip", message="no agent that we know is installed")
        wrong = troubles(found)
        if wrong:
            return Finding(name=self.name, status="warn", message="; ".join(wrong), hint=_SET_UP)
        names = ", ".join(one.agent for one in found.files)
        return Finding(name=self.name, status="ok", message=f"{names}: set up")


def troubles(found: Hooks) -> list[str]:
    """Each in a few words; what the hooks run matters only where there are hooks."""
    words = {"absent": "has no hooks of ours", "changed": "has hooks of ours that were changed, or are of old"}
    wrong = [f"{one.agent} {words[one.state]} ({one.path})" for one in found.files if one.state in words]
    wrong += [one.detail for one in found.files if one.state == "unreadable"]
    has_hooks = any(one.state in ("current", "changed") for one in found.files)
    return ([found.trouble] if found.trouble and has_hooks else []) + wrong
