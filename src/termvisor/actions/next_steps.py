"""Name the next command after a failed precondition, for the pane of the call. Pure."""

_LOOK_AND_RETRY = "`visor get-screen {pane}` shows the pane; then retry."
_NEXT_STEPS = {
    "own_pane": "Name another pane: `visor panes` lists them.",
    "recent_gap": "`visor gaps --pane {pane}` shows why; retry in a moment, or act all the same with `--force-stale`.",
    "pane_gone": "`visor panes` lists the panes.",
    "stale_pid": "`visor panes` shows what runs there now; then retry.",
    "stale_snapshot": "Retry; `--force-stale` acts on what is known.",
    "reserved": "`visor reservations` shows until when; retry then.",
    "pane_dead": "`visor get-text {pane}` shows how it ended; `visor spawn -- <program>` starts another.",
    "copy_mode": "Leave copy mode in the pane (q), then retry.",
    "input_off": "`tmux select-pane -e` in the pane switches its input on.",
    "synchronized": "`tmux set synchronize-panes off` in that window ends it.",
    "human_typing": "Retry when the user has stopped typing; `human_typing_override` in policy.toml allows it.",
    "nothing_to_see": "Add a word to the text, so that it can be recognized.",
    "too_long": "Write it to a file and send the file's name.",
    "control_characters": "`visor send-keys {pane}` presses keys; remove them from the text.",
    "multi_line": "Send it line by line, or write it to a file.",
    "popup_text": "`visor send-keys {pane}` presses keys without this check.",
    "prompt_not_found": "`visor get-screen {pane}` shows the pane; press Enter there for a new prompt, then retry.",
    "input_not_empty": "`visor get-screen {pane}` shows the typed text; clear it there (C-u), then retry.",
    "no_agent": "`visor status` lists the agents and their panes.",
    "other_agent": "`visor status` lists the agents and their panes.",
    "no_such_choice": "`visor get-screen {pane}` shows the choices; `visor answer {pane} <choice>` takes one.",
    "dialog_changed": "`visor get-screen {pane}` shows the dialog of now; answer that one.",
    "already_undone": "`visor audit` shows what was done.",
    "not_at_work": "`visor explain {pane}` shows the agent's state.",
    "at_work": "`visor interrupt {pane}` stops it; `visor wait-for {pane} --state idle,completed` waits.",
}


def describe_next_step(why: str, pane: int) -> str:
    """Return the command to call next after the failure with this code."""
    return _NEXT_STEPS.get(why, _LOOK_AND_RETRY).format(pane=pane)
