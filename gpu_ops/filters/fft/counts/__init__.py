"""What transforms cost by arithmetic, and what the source states about it."""
