"""Operations on approval requests and permits, and the hook that creates requests for agents."""
