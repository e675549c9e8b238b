"""The HTTP API: thin routes over ports, errors as RFC 9457 problem documents, API keys with rights per namespace."""
