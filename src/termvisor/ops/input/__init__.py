"""Operations that send input to a pane or an agent, and the helper that executes any action (`_action_operation`)."""
