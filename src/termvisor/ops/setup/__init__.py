"""Operations that integrate Termvisor with shells, tmux and agents."""
