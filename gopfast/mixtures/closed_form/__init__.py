"""Bounds in closed form, that need no search."""
