"""Sweeps of transfers: how long copies, chunks in streams and chains of filters take, over what decides it."""
