"""Results as bars, planes of values, tables and time lines."""
