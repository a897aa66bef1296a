"""The paper's experiments: compared methods, data sets, protocols, audit and statistics."""
