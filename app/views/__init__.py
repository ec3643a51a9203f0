"""Views: widgets that show the models."""
