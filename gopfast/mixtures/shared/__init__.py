"""Parameters that components share: mixtures in which they are fixed."""
