"""Tables: files to frames, and frames to columns of numbers."""
