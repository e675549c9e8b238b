"""What answers over HTTP: thin routes over ports, problems as RFC 9457 has them, keys with rights by namespace."""
