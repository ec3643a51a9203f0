"""The traffic of variants, painted on their pictures."""
