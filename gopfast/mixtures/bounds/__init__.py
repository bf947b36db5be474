"""Bounds of the objective of a mixture from below, and EM from above."""
