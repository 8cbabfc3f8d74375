"""Operations about Termvisor itself: health, doctor, logs, help, version."""
