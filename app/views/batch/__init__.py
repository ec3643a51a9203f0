"""The page of batches: many files through the present settings."""
