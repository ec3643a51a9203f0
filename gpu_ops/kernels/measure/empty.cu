// What:    nothing
// Idea:    its time is the latency of a launch, which no kernel is shorter than
// Shapes:  none
// Launch:  one block of one thread
// Traffic: none
// Source:  own
extern "C" __global__ void empty() {}
