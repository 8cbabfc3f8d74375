"""Operations on the config file and the settings."""
