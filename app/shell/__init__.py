"""The frame of the window: actions, menus, start and benchmarks."""
