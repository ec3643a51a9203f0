"""Connect models and views to the engine; only these modules call both."""
