"""Faces for people, programs and models."""
