"""Models on disk: files that hold nothing that could be executed, and no surprise."""
