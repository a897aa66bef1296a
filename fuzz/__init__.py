"""Fuzzing of everything that reads files of unknown origin."""
