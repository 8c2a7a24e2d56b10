"""The command line. Law: only this package prints, reads flags or exits."""
