"""Benchmarks of speed and of untuned accuracy: ``python -m benchmarks``."""
