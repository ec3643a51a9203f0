"""Formats of signals: sound, records, tables and text."""
