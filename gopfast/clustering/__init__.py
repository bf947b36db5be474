"""Minimum-sum-of-squares clustering (k-means) with a proof."""
