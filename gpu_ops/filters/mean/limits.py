def long_window_tolerance(axes): return {}
def running_sum_tolerance(lib, axes): return {}
def scipy_supports(meta, params, knobs, limits): return None
def opencv_supports(meta, params, knobs, limits): return None
