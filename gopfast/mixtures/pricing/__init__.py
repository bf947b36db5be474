"""Prices of the samples: bounds by what one component can save, over cells of one component."""
