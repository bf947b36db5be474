"""CSV files: their text, rows, header and numbers, with errors by line."""
