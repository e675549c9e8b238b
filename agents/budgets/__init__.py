"""Budgets of model calls: the arithmetic, reservations and bookings, prices, notices of usage."""
