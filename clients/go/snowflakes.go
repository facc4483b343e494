package leaf

import (
	"context"
	"time"
)

// Snowflake returns a snowflake ID under the worker window, without a request and without a lock. If the IDs of a
// millisecond are used up, it waits 2 ms at most. The first call starts to acquire a worker ID and fails with
// LEAF_NOT_READY: call Ready before. Errors: LEAF_NOT_READY, LEAF_LEASE_EXPIRED, LEAF_CLOCK_BACKWARDS,
// LEAF_OVERLOADED, LEAF_EPOCH_EXHAUSTED, LEAF_LAYOUT_MISMATCH, and the refusal of the servers.
func (c *Client) Snowflake() (int64, error) {
	var deadline time.Time
	for {
		t := c.window.term.Load()
		if t == nil {
			refusal, _ := c.window.refused()
			return 0, refusal
		}
		id, _, now, why := t.claim(c.options.Clock, 1)
		switch why {
		case none:
			return id, nil
		case ended:
			continue
		case exhausted:
			if deadline.IsZero() {
				deadline = time.Now().Add(maxBlock)
			}
			if time.Now().Before(deadline) {
				time.Sleep(100 * time.Microsecond)
				continue
			}
		case afterUntil:
			t.renew()
		}
		return 0, t.refused(why, now)
	}
}

// Snowflakes returns n snowflake IDs in ascending order, 1 to 10,000. It waits for a worker window, for
// Options.Timeout at most. Errors as of Snowflake, and LEAF_SIZE_INVALID.
func (c *Client) Snowflakes(ctx context.Context, n int) ([]int64, error) {
	if err := checkCount(n); err != nil {
		return nil, err
	}
	call, cancel := context.WithTimeout(ctx, c.options.Timeout)
	defer cancel()
	return c.takeSnowflakes(ctx, call, n)
}

// takeSnowflakes with n = 0 waits until an ID can be issued, and issues none.
func (c *Client) takeSnowflakes(ctx, call context.Context, n int) ([]int64, error) {
	if err := c.enter(); err != nil {
		return nil, err
	}
	defer c.leave()
	w := c.window
	ids := make([]int64, 0, n)
	for {
		w.mu.Lock()
		changed := w.changed
		w.mu.Unlock()
		var refusal *Error
		if t := w.term.Load(); t == nil {
			var isActive bool
			if refusal, isActive = w.refused(); !isActive || !refusal.Retryable() {
				return nil, refusal
			}
		} else {
			var now int64
			why := none
			if n == 0 {
				if state := t.state.Load(); state != sealed {
					now = c.options.Clock()
					_, why = t.advance(state, now)
				} else {
					why = ended
				}
			} else {
				var first, count int64
				first, count, now, why = t.claim(c.options.Clock, int64(n-len(ids)))
				for i := range count {
					ids = append(ids, first+i)
				}
			}
			if why == none && len(ids) == n || n == 0 && (why == exhausted || why == absorbing) {
				return ids, nil
			}
			if why == none || why == ended {
				continue
			}
			if why == afterUntil {
				t.renew()
			}
			if refusal = t.refused(why, now); !refusal.Retryable() {
				return nil, refusal
			}
		}
		look := time.NewTimer(min(time.Second, max(time.Millisecond, refusal.RetryAfter)))
		select {
		case <-changed:
		case <-look.C:
		case <-call.Done():
		}
		look.Stop()
		if call.Err() == nil {
			continue
		}
		w.mu.Lock()
		wasHeld, last := w.wasHeld, w.stats.lastError
		w.mu.Unlock()
		if wasHeld && ctx.Err() == nil {
			return nil, refusal
		}
		return nil, c.late(ctx, "snowflake", last)
	}
}
