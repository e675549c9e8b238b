"""HTTP as all routes use it: bodies, problems, cursors, deadlines, request ids."""
