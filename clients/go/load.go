package leaf

import (
	"errors"
	"strconv"
	"time"
)

// stats are the statistics of loads. Calls hold the lock of their owner.
type stats struct {
	loads, failures int64
	failuresInRow   int
	lastError       error
}

// failed reports whether to log the failure: the first of a series, and every 100th.
func (s *stats) failed(err error) bool {
	s.failures++
	s.failuresInRow++
	s.lastError = err
	return s.failuresInRow%100 == 1
}

func (s *stats) loaded() { s.loads, s.failuresInRow, s.lastError = s.loads+1, 0, nil }

func (t *tag) load() {
	c := t.client
	started := time.Now()
	t.mu.Lock()
	t.size = t.nextSize(started.Sub(t.loadStarted))
	t.mark()
	t.mu.Unlock()
	for failures := 1; ; failures++ {
		answer, err := t.request()
		t.mu.Lock()
		isEnd := t.loaded(answer, err, started)
		t.mu.Unlock()
		if isEnd {
			return
		}
		if !sleep(c.closing, loadBackoff(failures)) {
			return
		}
	}
}

// request asks for what waiting callers need and at least the size of the load; if the tag has fewer IDs left, for one.
func (t *tag) request() (answer rangesAnswer, err error) {
	t.mu.Lock()
	count := min(t.most, max(t.size, t.wanted-t.buffered()))
	t.mu.Unlock()
	answer, err = t.ask(count)
	if count > 1 && CodeOf(err) == CodeTagExhausted {
		t.mu.Lock()
		t.most = 1
		t.mu.Unlock()
		// It depends on the size of the request: the servers that have refused are asked again.
		t.policy = newPolicy(t.name)
		answer, err = t.ask(1)
	}
	return answer, err
}

func (t *tag) ask(count int64) (answer rangesAnswer, err error) {
	path := "/api/segment/range/" + t.name + "?size=" + strconv.FormatInt(count, 10)
	err = t.client.ask(t.policy, request{method: "GET", path: path, token: t.client.options.Token, nonce: true}, func(body []byte) (err error) {
		if answer, err = readRanges(body, t.name, count); err != nil {
			return err
		}
		t.mu.Lock()
		defer t.mu.Unlock()
		return t.recent.add(answer)
	})
	return answer, err
}

// loaded handles the result of a request, and reports whether the load has ended.
func (t *tag) loaded(answer rangesAnswer, err error, started time.Time) bool {
	c := t.client
	if err != nil {
		isPassing := isPassing(err)
		if t.stats.failed(err) && isPassing && t.closed == nil {
			c.options.Logger.Warn("leaf: load failed", "tag", t.name, "error", err)
		}
		// Stop for a tag that never had an ID and has no callers.
		if isPassing && (t.stats.loads > 0 || t.wanted > 0) && t.closed == nil {
			return false
		}
		if !isPassing {
			errors.As(err, &t.refusal)
			t.refusedUntil = time.Now().Add(refusalKept)
		}
	} else {
		t.stats.loaded()
		t.loadStarted, t.refusal, t.most = started, nil, min(maxRange, 2*t.most)
		t.lowMark = t.size * 9 / 10
		if answer.Order == "strict" {
			// Its IDs were not requested for a specific caller.
			t.drain()
			if t.closed == nil {
				t.strict.Store(&strictTag{client: c, name: t.name, policy: newPolicy(t.name)})
			}
		} else if t.closed == nil {
			for _, s := range answer.spans {
				t.queue = append(t.queue, &chunk{base: s.from, size: s.size()})
			}
			c.options.Logger.Debug("leaf: loaded", "tag", t.name, "count", answer.count(), "took", time.Since(started))
		}
	}
	t.loading = false
	t.mark()
	t.wake()
	return true
}

func (a rangesAnswer) count() (n int64) {
	for _, s := range a.spans {
		n += s.size()
	}
	return n
}

func (t *tag) nextSize(elapsed time.Duration) int64 {
	o := t.client.options.Segment
	least, most := int64(o.MinSize), int64(o.MaxSize)
	switch {
	case t.stats.loads < 2:
		return least
	case elapsed < o.Duration:
		return min(2*t.size, most)
	case elapsed < 2*o.Duration:
		return t.size
	}
	return max(least, t.size/2)
}
