"""HTTP concerns shared by all routes: bodies, errors, cursors, deadlines, request ids."""
