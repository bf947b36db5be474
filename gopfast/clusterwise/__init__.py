"""Clusterwise least squares: classes of samples, each with a regression of its own, with a proof."""
