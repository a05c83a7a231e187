"""Correct solutions of the exercises in many styles, one module an exercise."""
