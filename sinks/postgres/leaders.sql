-- name: lead
-- Makes $2 the leader of role $1 for $3 seconds, by the database's clock. Returns no row while another owner leads: its
-- term has not ended, or it holds the row's lock. A leader that is silent for $4 ms within the transaction is
-- disconnected, which frees the row.
UPDATE leaders SET owner = $2, until = clock_timestamp() + $3::double precision * interval '1 second'
WHERE role = (SELECT role FROM leaders
              WHERE role = $1 AND (owner = $2 OR until <= clock_timestamp())
              FOR UPDATE SKIP LOCKED)
RETURNING role, set_config('idle_in_transaction_session_timeout', $4, true)

-- name: resign
UPDATE leaders SET until = '-infinity' WHERE role = $1 AND owner = $2
