"""Access to SQLite: connections and threads, migrations, error translation, row conversion."""
