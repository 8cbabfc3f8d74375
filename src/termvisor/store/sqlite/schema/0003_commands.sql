-- AUTOINCREMENT: an id that was told to a person or a program is never given to another command.
CREATE TABLE command (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    pane INTEGER NOT NULL REFERENCES pane (id),
    epoch INTEGER NOT NULL,
    start INTEGER NOT NULL,
    "end" INTEGER,
    line TEXT,
    cwd TEXT,
    started_at INTEGER NOT NULL,
    ended_at INTEGER,
    exit_code INTEGER,
    first_line INTEGER NOT NULL DEFAULT 0,
    last_line INTEGER,
    is_proven INTEGER NOT NULL,
    status TEXT NOT NULL
);
CREATE UNIQUE INDEX command_start ON command (epoch, start);
CREATE INDEX command_pane ON command (pane, id);
CREATE INDEX command_line ON command (pane, first_line);
CREATE INDEX command_time ON command (started_at);
CREATE INDEX command_running ON command (epoch) WHERE status = 'running';
