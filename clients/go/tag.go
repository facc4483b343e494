package leaf

import (
	"context"
	"math"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// refusalKept is how long a refusal that a retry cannot change is given to all calls.
const refusalKept = time.Second

// chunk is one range of buffered IDs. A take is one atomic addition; what it takes beyond size does not exist.
type chunk struct {
	used atomic.Int64
	// checkAt is the index from which on a take checks whether the next load is due.
	checkAt    atomic.Int64
	base, size int64
}

func (c *chunk) left() int64 { return max(0, c.size-c.used.Load()) }

// tag is the double buffer of one tag:
//
//   - serving: IDs are buffered. A load may be in progress; its failures do not affect callers.
//   - waiting: no IDs are buffered. Callers wait for the load in progress.
//   - refused: a load was refused. Calls fail with this refusal for a second, then a new load starts.
//   - strict: an answer has shown that the tag is strict. Nothing is buffered.
//   - closed: final.
type tag struct {
	client *Client
	name   string
	cur    atomic.Pointer[chunk]
	strict atomic.Pointer[strictTag]

	mu      sync.Mutex
	queue   []*chunk
	policy  *policy
	recent  recent
	closed  *Error
	changed chan struct{}
	// wanted is what waiting callers need; lowMark what is left when the next load starts; most the size of the largest
	// request: 1 after one that is refused because the tag has fewer IDs left, then twice as many after each answer.
	wanted, lowMark, size, most int64
	loading                     bool
	loadStarted                 time.Time
	refusal                     *Error
	refusedUntil                time.Time
	stats                       stats
}

func newTag(c *Client, name string) *tag {
	t := &tag{client: c, name: name, policy: newPolicy(name), changed: make(chan struct{}), most: maxRange}
	t.cur.Store(&chunk{})
	return t
}

// try takes one ID without a lock.
func (t *tag) try() (int64, bool) {
	c := t.cur.Load()
	i := c.used.Add(1) - 1
	if i >= c.size {
		return 0, false
	}
	if i >= c.checkAt.Load() {
		t.topUp()
	}
	return c.base + i, true
}

// tryNext takes one ID, also of the next chunk, and starts a load if there is none.
func (t *tag) tryNext() (int64, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	spans, missing := t.take(nil, 1)
	t.replenishIfLow()
	if missing > 0 {
		return 0, false
	}
	return spans[0].from, true
}

// next waits for n IDs, in ascending ranges.
func (t *tag) next(ctx context.Context, n int64) ([]span, error) {
	c := t.client
	call, cancel := context.WithTimeout(ctx, c.options.Timeout)
	defer cancel()
	if t.strict.Load() == nil {
		spans, err := t.wait(ctx, call, n)
		if err != nil || t.strict.Load() == nil || spans != nil {
			return spans, err
		}
	}
	s, err := t.strict.Load().next(ctx, call, n)
	return []span{s}, err
}

// wait returns nil without an error if the tag turned out to be strict. With n = 0 it waits until IDs are buffered.
func (t *tag) wait(ctx, call context.Context, n int64) ([]span, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var spans []span
	missing := n
	taken := func() bool {
		if t.buffered() < max(1, missing) {
			return false
		}
		spans, missing = t.take(spans, missing)
		t.replenishIfLow()
		return missing == 0
	}
	if taken() {
		return spans, nil
	}
	if err := t.client.enter(); err != nil {
		return nil, err
	}
	t.wanted += max(1, n)
	defer func() { t.wanted -= max(1, n); t.client.leave() }()
	for !taken() {
		if t.strict.Load() != nil {
			return nil, nil
		}
		if t.closed != nil {
			return nil, t.closed
		}
		t.replenish()
		if !t.loading && t.refusal != nil {
			return nil, t.refusal
		}
		changed := t.changed
		t.mu.Unlock()
		select {
		case <-changed:
		case <-call.Done():
		}
		t.mu.Lock()
		if call.Err() != nil {
			return nil, t.client.late(ctx, "tag "+strconv.Quote(t.name), t.stats.lastError)
		}
	}
	// They are out of order only after a change of the server.
	slices.SortFunc(spans, func(a, b span) int {
		if a.from < b.from {
			return -1
		}
		return 1
	})
	return spans, nil
}

// take adds up to missing IDs to spans, and returns how many are still missing. Callers that do not lock take from the
// same chunk.
func (t *tag) take(spans []span, missing int64) ([]span, int64) {
	for missing > 0 {
		c := t.cur.Load()
		n := min(missing, c.left())
		i := c.used.Add(n) - n
		if n = min(n, c.size-i); n > 0 {
			spans = append(spans, span{c.base + i, c.base + i + n - 1})
			missing -= n
		} else if len(t.queue) > 0 {
			t.cur.Store(t.queue[0])
			t.queue = slices.Delete(t.queue, 0, 1)
		} else {
			break
		}
	}
	return spans, missing
}

func (t *tag) buffered() int64 {
	n := t.cur.Load().left()
	for _, c := range t.queue {
		n += c.size
	}
	return n
}

func (t *tag) topUp() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.replenishIfLow()
}

func (t *tag) replenishIfLow() {
	if t.buffered() <= t.lowMark {
		t.replenish()
	}
	t.mark()
}

// replenish starts a load, unless one is in progress or was just refused.
func (t *tag) replenish() {
	if t.loading || t.closed != nil || time.Now().Before(t.refusedUntil) {
		return
	}
	t.loading = t.client.start(t.load)
}

// mark sets the index of the current chunk at which the buffer is at its low mark.
func (t *tag) mark() {
	c := t.cur.Load()
	if t.loading {
		c.checkAt.Store(math.MaxInt64)
		return
	}
	at := c.size - t.lowMark - 1
	for _, queued := range t.queue {
		at += queued.size
	}
	c.checkAt.Store(at)
}

// drain drops all buffered IDs, and returns their number.
func (t *tag) drain() (dropped int64) {
	for _, c := range append(t.queue, t.cur.Load()) {
		dropped += max(0, c.size-(c.used.Add(c.size)-c.size))
	}
	t.queue = nil
	t.cur.Store(&chunk{})
	return dropped
}

func (t *tag) wake() {
	close(t.changed)
	t.changed = make(chan struct{})
}

// isIdle reports whether the tag can be removed without losing IDs or callers.
func (t *tag) isIdle() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.strict.Load()
	return !t.loading && t.wanted == 0 && t.buffered() == 0 && (s == nil || s.isIdle())
}

func (t *tag) close(reason *Error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = reason
	t.drain()
	t.wake()
	if s := t.strict.Load(); s != nil {
		s.close(reason)
	}
}
