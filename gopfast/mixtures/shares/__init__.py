"""Matrices of each component's own: bounds by the shares of labels that a component takes."""
