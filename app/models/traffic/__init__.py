"""What variants fetch of the input, in the form that views need."""
