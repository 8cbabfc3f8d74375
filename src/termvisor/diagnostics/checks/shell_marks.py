"""The check `shell_marks`: shells mark where prompts and commands begin and end."""

from termvisor.diagnostics.checks.check import CheckContext, CheckFinding


class ShellMarksCheck:
    name = "shell_marks"
    doc = "At least one pane's shell sends prompt marks (OSC 133 or 633), so that its activity is known."

    async def run(self, context: CheckContext) -> CheckFinding:
        panes = await context.list_panes()
        if not panes:
            return CheckFinding(name=self.name, status="skip", message="no panes")
        marked = [pane for pane in panes if pane.activity.kind in ("prompt", "command")]
        proven = sum(pane.activity.is_proven for pane in marked)
        message = f"{len(marked)} of {len(panes)} panes send marks, {proven} of them proven"
        if marked:
            return CheckFinding(name=self.name, status="ok", message=message)
        hint = "Run `visor setup shell` to send OSC 133 marks; without them a pane's activity is mostly unknown."
        return CheckFinding(name=self.name, status="warn", message=message, hint=hint)
