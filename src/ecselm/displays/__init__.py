"""Pictures of costs, searches and results, in the manner of the displays of scikit-learn."""
