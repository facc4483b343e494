package leaf

import (
	"math/rand/v2"
	"sync/atomic"
	"time"
)

const (
	// maxBackwards is the backward step of the clock that is absorbed, in milliseconds.
	maxBackwards = 5
	// catchUp is how far the timestamps may lag behind the clock under saturation, in milliseconds: those missed while
	// the process was busy are used first.
	catchUp = 8
	// sequenceStart: a new millisecond starts its sequence at a random number below this, so that the IDs of slow
	// callers are evenly distributed.
	sequenceStart = 1024
	// maxBlock is how long Snowflake waits when the IDs of a millisecond are used up.
	maxBlock = 2 * time.Millisecond
	// sealed is the state of a term that has ended.
	sealed = ^uint64(0)
)

// obstacle is why there is no ID now.
type obstacle int

const (
	none obstacle = iota
	ended
	behind
	exhausted
	absorbing
	outsideEpoch
	beforeFrom
	afterUntil
)

// term is an uninterrupted period under one worker ID. Its state is the newest timestamp with its last sequence number
// in one word, so an ID is one compare-and-swap; and sealing the state ends the term for calls that are under way.
type term struct {
	layout     Layout
	maxSeq     uint64
	timeShift  int
	stateShift int
	workerID   int64
	workerPart int64
	// from is that of the window, in Unix milliseconds.
	from int64
	// floor: all timestamps are later. earlier: the newest timestamp of earlier terms, -1 without one. Unix milliseconds.
	floor, earlier int64
	// until is that of the newest answer; after renewAfter the window should be extended. Unix milliseconds.
	until, renewAfter atomic.Int64
	// state, from the highest bit: milliseconds since the epoch; whether the timestamp follows an exhausted one, so
	// that its sequence began at 0; sequence. A state at floor means that nothing was issued.
	state atomic.Uint64
	nudge chan<- struct{}
}

func newTerm(w *windowAnswer, earlier int64, nudge chan<- struct{}) *term {
	l := *w.Layout
	t := &term{layout: l, maxSeq: uint64(l.maxSequence()), timeShift: l.WorkerBits + l.SequenceBits,
		stateShift: l.SequenceBits + 1, workerID: *w.WorkerID, workerPart: *w.WorkerID << l.SequenceBits,
		from: *w.From, earlier: earlier, nudge: nudge}
	// A clock that was set back must not repeat a timestamp of an earlier window of the same worker.
	t.floor = min(max(*w.From-1, earlier, l.Epoch), l.maxTimestamp())
	t.state.Store(uint64(t.floor-l.Epoch) << t.stateShift)
	return t
}

// claim takes up to want IDs of one millisecond, the one of now, and returns the first one and their number. now is the
// only read of the clock: it is what is checked against the window, and what gives the timestamp. It follows the read of
// the state: a goroutine that was suspended between them would otherwise find a state that is ahead of its clock.
func (t *term) claim(clock func() int64, want int64) (first, count, now int64, why obstacle) {
	for {
		state := t.state.Load()
		if state == sealed {
			return 0, 0, 0, ended
		}
		now = clock()
		var next uint64
		if seq := state & t.maxSeq; int64(state>>t.stateShift) == now-t.layout.Epoch && seq < t.maxSeq &&
			now > t.floor && now <= t.until.Load() {
			next = state + 1
		} else if next, why = t.advance(state, now); why != none {
			return 0, 0, now, why
		}
		seq := next & t.maxSeq
		count = min(want, int64(t.maxSeq-seq)+1)
		if t.state.CompareAndSwap(state, next+uint64(count)-1) {
			return int64(next>>t.stateShift)<<t.timeShift | t.workerPart | int64(seq), count, now, none
		}
	}
}

// advance returns the state of the next ID.
func (t *term) advance(state uint64, now int64) (uint64, obstacle) {
	newest := int64(state>>t.stateShift) + t.layout.Epoch
	isFirst := newest == t.floor
	seq, isSaturated := state&t.maxSeq, state&(t.maxSeq+1) != 0
	if now > t.renewAfter.Load() {
		t.renew()
	}
	switch {
	case !isFirst && newest-now > maxBackwards || isFirst && t.earlier-now > maxBackwards:
		return 0, behind
	case now < t.layout.Epoch || now > t.layout.maxTimestamp():
		return 0, outsideEpoch
	case isFirst && now <= t.floor:
		return 0, beforeFrom
	case max(now, newest) > t.until.Load():
		return 0, afterUntil
	case isFirst:
		return t.open(now, false), none
	}
	hasSpare := seq < t.maxSeq
	isNear := now-newest <= catchUp
	switch {
	case hasSpare && (now <= newest || isNear && isSaturated):
		return state + 1, none
	case now < newest:
		return 0, absorbing
	case now == newest:
		return 0, exhausted
	case !hasSpare && isNear:
		return t.open(newest+1, true), none
	}
	return t.open(now, false), none
}

// open returns the first state of a timestamp.
func (t *term) open(timestamp int64, isSaturated bool) uint64 {
	state := uint64(timestamp-t.layout.Epoch) << t.stateShift
	if isSaturated {
		return state | (t.maxSeq + 1)
	}
	return state | rand.Uint64N(min(sequenceStart, t.maxSeq+1))
}

// renew asks for an extension of the window, soon.
func (t *term) renew() {
	select {
	case t.nudge <- struct{}{}:
	default:
	}
}

// seal ends the term: no ID is issued afterwards. It returns the newest timestamp, and false if nothing was issued.
func (t *term) seal() (newest int64, isUsed bool) {
	state := t.state.Swap(sealed)
	newest = int64(state>>t.stateShift) + t.layout.Epoch
	return newest, state != sealed && newest > t.floor
}

// newest timestamp issued under this term in Unix milliseconds; -1 without one.
func (t *term) newest() int64 {
	state := t.state.Load()
	if at := int64(state>>t.stateShift) + t.layout.Epoch; state != sealed && at > t.floor {
		return at
	}
	return -1
}

// refused is the error for a call that gets no ID.
func (t *term) refused(why obstacle, now int64) *Error {
	newest := max(t.newest(), t.earlier)
	ms := func(n int64) time.Duration { return time.Duration(max(1, n)) * time.Millisecond }
	switch why {
	case exhausted:
		return newError(CodeOverloaded, "Worker %d has used all %d IDs of this millisecond. Retry, or distribute the load over more processes.", t.workerID, t.maxSeq+1).retryAfter(time.Millisecond)
	case beforeFrom:
		return newError(CodeNotReady, "The window of worker %d begins in %d ms.", t.workerID, t.floor+1-now).retryAfter(ms(t.floor + 1 - now))
	case afterUntil:
		return newError(CodeLeaseExpired, "The window of worker %d ended at %d (Unix ms), and no server has extended it. The client continues when one does.", t.workerID, t.until.Load()).retryAfter(time.Second)
	case outsideEpoch:
		return newError(CodeEpochExhausted, "The clock reads %d (Unix ms), outside of the layout, from %d to %d. Correct the clock.", now, t.layout.Epoch, t.layout.maxTimestamp())
	}
	return newError(CodeClockBackwards, "The clock is %d ms behind the newest ID of worker %d. The client continues when it has caught up; check the time synchronization of this host.", newest-now, t.workerID).retryAfter(ms(newest - now))
}
