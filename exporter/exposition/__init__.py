"""Samples become lines, and lines a page."""
