"""Signals and spectra as curves."""
