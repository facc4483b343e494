package leaf

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// Longest wait after a failed extension; shorter for short windows.
const maxExtendBackoff = 30 * time.Second

// window keeps a worker ID: the five rules of docs/worker-windows.md.
//
//	idle ──► acquiring ──► held ──► acquiring   409 or 404: with a new lease
//	  ▲          │          └──► ended          the layout has changed: final
//	  └──────────┘ refused; the next call acquires again
//
// One request is sent at a time, and its answer is read only until its time limit: the newest answer that has arrived
// counts, and no answer of one lease reaches the term of the next.
type window struct {
	client *Client
	// term is nil while no worker ID is held.
	term  atomic.Pointer[term]
	nudge chan struct{}

	mu           sync.Mutex
	refusal      *Error
	refusedUntil time.Time
	isFinal      bool
	wasHeld      bool
	// keeping is closed when the background work ends; nil while there is none.
	keeping chan struct{}
	changed chan struct{}
	layout  *Layout
	// lease is the newest one: also without an answer, a server may have given a worker ID to it.
	lease *lease
	// newest timestamp of all terms that have ended, in Unix milliseconds; -1 without one.
	newest int64
	// lastUsed is what a DELETE of the lease tells; 0 before an answer.
	lastUsed int64
	stats    stats
}

func newWindow(c *Client) *window {
	return &window{client: c, nudge: make(chan struct{}, 1), changed: make(chan struct{}), newest: -1,
		layout: c.options.Layout, refusal: notYet()}
}

func notYet() *Error {
	return newError(CodeNotReady, "This client has no worker ID yet. Call Ready with Preload.Snowflake, or Snowflakes, which waits for the servers.").retryAfter(time.Second)
}

// refused acquires a worker ID in the background, unless one is held. It returns why there is none, and whether one is
// being acquired.
func (w *window) refused() (refusal *Error, isActive bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.isFinal && w.keeping == nil && !time.Now().Before(w.refusedUntil) {
		if !w.refusal.Retryable() {
			w.refusal = notYet()
		}
		done := make(chan struct{})
		if w.client.start(func() { w.keep(done) }) {
			w.keeping = done
		}
	}
	return w.refusal, w.keeping != nil && !w.isFinal
}

// keep ends when the client closes, or a server refuses.
func (w *window) keep(done chan struct{}) {
	defer func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.keeping = nil
		w.announce()
		close(done)
	}()
	c := w.client
	for c.closing.Err() == nil {
		if w.lease == nil {
			made, err := newLease(c)
			if err != nil {
				w.refuse(err)
				return
			}
			w.mu.Lock()
			w.lease, w.lastUsed = made, 0
			w.mu.Unlock()
		}
		err := w.hold()
		if c.closing.Err() != nil {
			return
		}
		if !isLost(err) {
			w.refuse(err)
			return
		}
		w.lose(err)
		sleep(c.closing, time.Second)
	}
}

// hold acquires a worker ID and extends its window, until that fails for good.
func (w *window) hold() error {
	answer, err := w.attempt(w.lease.acquire, isPassing, 25*time.Millisecond, time.Second)
	if err != nil {
		return err
	}
	w.mu.Lock()
	t := newTerm(answer, w.newest, w.nudge)
	w.mu.Unlock()
	first := *answer
	for isFirst := true; ; isFirst = false {
		shortest, rest, err := w.accept(t, answer, isFirst)
		if err != nil || !w.untilDue(shortest, rest) {
			return err
		}
		most := min(maxExtendBackoff, w.client.options.Snowflake.Window/20)
		extend := func() (*windowAnswer, error) { return w.lease.extend(&first) }
		answer, err = w.attempt(extend, func(err error) bool { return !isLost(err) }, 100*time.Millisecond, most)
		if err != nil {
			return err
		}
	}
}

// attempt retries a request, and counts its failures.
func (w *window) attempt(send func() (*windowAnswer, error), retryable func(error) bool, first, most time.Duration) (*windowAnswer, error) {
	for failures := 1; ; failures++ {
		answer, err := send()
		w.mu.Lock()
		if err == nil {
			w.stats.loaded()
			w.mu.Unlock()
			return answer, nil
		}
		isReported := w.stats.failed(err)
		w.mu.Unlock()
		if isReported && w.client.closing.Err() == nil {
			w.client.options.Logger.Warn("leaf: worker window failed", "error", err)
		}
		if !retryable(err) || !sleep(w.client.closing, backoff(failures, first, most)) {
			return nil, err
		}
	}
}

// accept makes the answer count, and returns when the next extension may be sent and when it is due.
func (w *window) accept(t *term, a *windowAnswer, isFirst bool) (shortest, rest time.Duration, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.layout == nil {
		w.layout = a.Layout
	}
	if isFirst {
		w.lastUsed = *a.From - 1
	}
	if *a.Layout != *w.layout {
		return 0, 0, newError(CodeLayoutMismatch, "The servers use the bit layout %s, and this client %s. IDs of both can be equal, so this client issues no more snowflake IDs. Correct Options.Layout, or restart the application after a change of the servers.", a.Layout, w.layout)
	}
	now := w.client.options.Clock()
	shortest = w.client.options.Snowflake.Window / 10
	// By the clock that reaches the end first; but not again and again if the own one is far ahead.
	rest = max(shortest, time.Duration(min(*a.Until-*a.Now, *a.Until-now))*time.Millisecond/2)
	t.until.Store(*a.Until)
	t.renewAfter.Store(now + rest.Milliseconds())
	if isFirst && !w.isFinal {
		w.wasHeld = true
		w.term.Store(t)
		w.client.options.Logger.Info("leaf: worker ID acquired", "worker", t.workerID, "until", *a.Until)
	}
	w.announce()
	return shortest, rest, nil
}

// untilDue waits until the next extension is due, or a call has nudged; false when the client closes.
func (w *window) untilDue(shortest, rest time.Duration) bool {
	from := time.Now()
	timer := time.NewTimer(rest)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
			return true
		case <-w.nudge:
			if time.Since(from) >= shortest {
				return true
			}
		case <-w.client.closing.Done():
			return false
		}
	}
}

func (w *window) lose(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lease = nil
	if t := w.term.Load(); t != nil {
		w.client.options.Logger.Warn("leaf: worker ID lost", "worker", t.workerID, "error", err)
		refusal := newError(CodeNotReady, "This client no longer holds worker %d: its window has ended, its lease was released, or a copy of this process has extended the window. It acquires another worker ID.", t.workerID).retryAfter(time.Second)
		refusal.cause = err
		w.end(refusal)
	}
}

func (w *window) refuse(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.isFinal {
		return
	}
	refusal := newError(CodeInternal, "Acquiring a worker ID failed: %v.", err)
	errors.As(err, &refusal)
	w.isFinal = refusal.Code == CodeLayoutMismatch
	w.refusedUntil = time.Now().Add(refusalKept)
	w.end(refusal)
}

// end ends the term. Callers hold the lock.
func (w *window) end(refusal *Error) {
	w.refusal = refusal
	if t := w.term.Swap(nil); t != nil {
		if newest, isUsed := t.seal(); isUsed {
			w.newest, w.lastUsed = max(w.newest, newest), newest
		}
	}
	w.announce()
}

func (w *window) announce() {
	close(w.changed)
	w.changed = make(chan struct{})
}

// close ends the issuing of IDs.
func (w *window) close(reason *Error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.isFinal = true
	w.end(reason)
}

// release gives the worker ID back. Call it after close and after closing has ended.
func (w *window) release(ctx context.Context) error {
	w.mu.Lock()
	keeping := w.keeping
	w.mu.Unlock()
	if keeping != nil {
		// The request in progress may give or extend a window.
		select {
		case <-keeping:
		case <-ctx.Done():
			return unreleased(ctx)
		}
	}
	w.mu.Lock()
	lease, lastUsed := w.lease, w.lastUsed
	w.mu.Unlock()
	if lease == nil {
		return nil
	}
	result := make(chan error, 1)
	w.client.wg.Add(1)
	go func() {
		defer w.client.wg.Done()
		for failures := 1; ; failures++ {
			err := lease.release(lastUsed)
			if err == nil || !isPassing(err) || !sleep(ctx, loadBackoff(failures)) {
				result <- err
				return
			}
		}
	}()
	select {
	case err := <-result:
		return err
	case <-ctx.Done():
		return unreleased(ctx)
	}
}

func unreleased(ctx context.Context) *Error {
	e := newError(CodeServersUnavailable, "No Leaf server has confirmed the release of the worker ID. It stays reserved until the end of its window.")
	e.cause = context.Cause(ctx)
	return e
}

func isLost(err error) bool {
	code := CodeOf(err)
	return code == CodeLeaseLost || code == CodeLeaseNotFound
}
