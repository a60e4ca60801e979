"""Trained models behind HTTP: a worker that answers many at once, bounds, and a page to look at."""
