-- A process id and its start repeat after a reboot, so a server is identified by its boot, too ('' if it was stored
-- without one), and by the backend that runs its panes. The table is made again, because a constraint cannot be changed;
-- rows of the new one satisfy the references that deleting the old one leaves open.
PRAGMA defer_foreign_keys = ON;

CREATE TEMP TABLE former_server AS SELECT * FROM server;
CREATE TEMP TABLE former_sequence AS SELECT seq FROM sqlite_sequence WHERE name = 'server';
DROP TABLE server;

CREATE TABLE server (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    target TEXT NOT NULL,
    socket TEXT NOT NULL,
    pid INTEGER NOT NULL,
    started INTEGER NOT NULL,
    boot TEXT NOT NULL DEFAULT '',
    backend TEXT NOT NULL DEFAULT 'tmux',
    UNIQUE (target, socket, pid, started, boot)
);

INSERT INTO server (id, target, socket, pid, started) SELECT id, target, socket, pid, started FROM former_server;
DELETE FROM sqlite_sequence WHERE name = 'server';
INSERT INTO sqlite_sequence (name, seq) SELECT 'server', seq FROM former_sequence;
DROP TABLE former_server;
DROP TABLE former_sequence;
