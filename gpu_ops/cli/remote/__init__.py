"""Commands on another machine, and the engine that serves them there."""
