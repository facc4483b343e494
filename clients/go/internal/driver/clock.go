package main

import (
	"sync/atomic"
	"time"
)

// clock is the wall clock of the host, moved and stopped by commands.
type clock struct {
	offset atomic.Int64
	// frozen is the time at which the clock stands; 0 while it goes.
	frozen atomic.Int64
	step   atomic.Pointer[step]
}

// step moves the clock after so many reads.
type step struct {
	left atomic.Int64
	ms   int64
}

func (c *clock) now() int64 {
	now := c.frozen.Load()
	if now == 0 {
		now = time.Now().UnixMilli()
	}
	now += c.offset.Load()
	if s := c.step.Load(); s != nil && s.left.Add(-1) == 0 {
		c.offset.Add(s.ms)
	}
	return now
}

// stepAfter moves the clock by ms after the next reads; 0 reads: never.
func (c *clock) stepAfter(reads, ms int64) {
	if reads == 0 {
		c.step.Store(nil)
		return
	}
	s := &step{ms: ms}
	s.left.Store(reads)
	c.step.Store(s)
}

func (c *clock) freeze(d time.Duration) {
	c.frozen.Store(time.Now().UnixMilli())
	time.AfterFunc(d, func() { c.frozen.Store(0) })
}
