"""Element types, inputs, goldens, comparison. Only `golden` needs torch; import the module you need, nothing is imported here."""
