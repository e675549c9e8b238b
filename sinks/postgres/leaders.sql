-- name: lead
-- A locked row is skipped: its holder leads now. By the database's clock. A leader that is silent for $4 ms within the transaction
-- is disconnected, which frees the row.
UPDATE leaders SET owner = $2, until = clock_timestamp() + $3::double precision * interval '1 second'
WHERE role = (SELECT role FROM leaders
              WHERE role = $1 AND (owner = $2 OR until <= clock_timestamp())
              FOR UPDATE SKIP LOCKED)
RETURNING role, set_config('idle_in_transaction_session_timeout', $4, true)

-- name: stand_down
UPDATE leaders SET until = '-infinity' WHERE role = $1 AND owner = $2
