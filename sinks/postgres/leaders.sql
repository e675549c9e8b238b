-- name: lead
-- A row that somebody holds is passed over: that one leads right now. The database's clock counts. Who leads and then says nothing
-- for $4 ms within the transaction is cut off, and the row is free again.
UPDATE leaders SET owner = $2, until = clock_timestamp() + $3::double precision * interval '1 second'
WHERE role = (SELECT role FROM leaders
              WHERE role = $1 AND (owner = $2 OR until <= clock_timestamp())
              FOR UPDATE SKIP LOCKED)
RETURNING role, set_config('idle_in_transaction_session_timeout', $4, true)

-- name: stand_down
UPDATE leaders SET until = '-infinity' WHERE role = $1 AND owner = $2
