"""The connection pool, SQL statements by name, migrations, and leader election."""
