"""The engine on another machine: its messages travel as JSON heads and raw buffers over the system's ssh."""
