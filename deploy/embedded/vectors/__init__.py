"""Qdrant's engine behind the part of its REST API that memstream uses."""
