"""Relaxed duals of a node: lower bounds on boxes of the connected variables."""
