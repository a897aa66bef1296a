"""One page about one model, for somebody who has to decide whether to trust it."""
