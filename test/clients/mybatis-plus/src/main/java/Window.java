record Window(long workerId, long from, long until) {}
