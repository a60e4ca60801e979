"""Trained models behind HTTP: workers that answer many at once, bounds, and a page to look at."""
