"""What holds the window together: actions, menus, start and benchmarks."""
