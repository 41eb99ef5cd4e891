"""Why a model answers as it does, in words, tables and pictures."""
