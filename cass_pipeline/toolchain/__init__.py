"""Compilers of both vendors behind one interface, and their installation without root."""
