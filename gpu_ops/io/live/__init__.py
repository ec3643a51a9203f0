"""Live sources: a camera, a video in its place, a microphone."""
