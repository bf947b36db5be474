"""The samples as the core holds them: columns, passes, summaries, ties."""
