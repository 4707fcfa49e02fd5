"""Asynchronous 40-target SSVEP speller: name the key, and stay quiet when nothing flickers."""
