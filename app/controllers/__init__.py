"""What joins models and views to the engine; the only modules that call both."""
