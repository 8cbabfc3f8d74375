"""Operations that send input to a pane or an agent, and the helpers that execute any action (`_execute_action`)."""
