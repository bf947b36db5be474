"""What is asked of many fits: model choice, resampling, all local optima."""
