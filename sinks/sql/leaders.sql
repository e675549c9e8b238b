-- name: lead
-- A row that somebody holds is passed over: that one leads right now. The database's clock counts.
UPDATE leaders SET owner = $2, until = clock_timestamp() + $3::double precision * interval '1 second'
WHERE role = (SELECT role FROM leaders
              WHERE role = $1 AND (owner = $2 OR until <= clock_timestamp())
              FOR UPDATE SKIP LOCKED)
RETURNING role

-- name: stand_down
UPDATE leaders SET until = '-infinity' WHERE role = $1 AND owner = $2
