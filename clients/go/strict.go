package leaf

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"time"
)

// strictTag has the callers of a strict tag. One request is in progress at a time, for exactly the callers that wait
// when it is formed, also when it is tried again on another server; unused IDs become a gap.
type strictTag struct {
	client *Client
	name   string

	mu      sync.Mutex
	policy  *policy
	waiting []*strictCall
	// inBatch are the callers of the request in progress.
	inBatch []*strictCall
	running bool
	// divided callers go alone: one of them wants more IDs than the tag has left.
	divided int
	// exhausted is the newest refusal because the tag has fewer IDs left: until exhaustedUntil it is that of every batch
	// of tooMany IDs or more.
	exhausted      *Error
	exhaustedUntil time.Time
	tooMany        int64
	// highest ID of all answers.
	highest int64
	closed  *Error
	stats   stats
}

type strictCall struct {
	count int64
	// result has room for one result; settled says whether it was sent, or the caller has left.
	result  chan strictResult
	settled bool
}

type strictResult struct {
	span
	err error
}

func (s *strictTag) next(ctx, call context.Context, n int64) (span, error) {
	if err := s.client.enter(); err != nil {
		return span{}, err
	}
	defer s.client.leave()
	own := &strictCall{count: n, result: make(chan strictResult, 1)}
	s.mu.Lock()
	if s.closed != nil {
		s.mu.Unlock()
		return span{}, s.closed
	}
	s.waiting = append(s.waiting, own)
	s.running = s.running || s.client.start(s.run)
	s.mu.Unlock()
	select {
	case r := <-own.result:
		return r.span, r.err
	case <-call.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if own.settled {
		r := <-own.result
		return r.span, r.err
	}
	own.settled = true
	s.waiting = slices.DeleteFunc(s.waiting, func(c *strictCall) bool { return c == own })
	return span{}, s.client.late(ctx, "tag "+strconv.Quote(s.name), s.stats.lastError)
}

// run sends requests while callers wait.
func (s *strictTag) run() {
	for {
		s.mu.Lock()
		size := s.form()
		known := s.exhausted != nil && size >= s.tooMany && time.Now().Before(s.exhaustedUntil)
		if known {
			s.refuse(s.exhausted)
		}
		s.mu.Unlock()
		if known {
			continue
		}
		if size == 0 {
			return
		}
		got, err := s.request(size)
		s.mu.Lock()
		pause := s.answered(got, err)
		failures := s.stats.failuresInRow
		s.mu.Unlock()
		if pause {
			sleep(s.client.closing, loadBackoff(failures))
		}
	}
}

// form makes a batch of the callers that wait, and returns its number of IDs; 0 without one.
func (s *strictTag) form() (size int64) {
	n := 0
	for ; n < len(s.waiting); n++ {
		if n > 0 && (s.divided > 0 || size+s.waiting[n].count > maxRange) {
			break
		}
		size += s.waiting[n].count
	}
	s.inBatch = slices.Clone(s.waiting[:n])
	s.waiting = slices.Delete(s.waiting, 0, n)
	s.divided = max(0, s.divided-1)
	s.running = n > 0
	return size
}

func (s *strictTag) request(size int64) (got span, err error) {
	path := "/api/segment/range/" + s.name + "?size=" + strconv.FormatInt(size, 10)
	err = s.client.ask(s.policy, request{method: "GET", path: path, token: s.client.options.Token, nonce: true}, func(body []byte) error {
		answer, err := readRanges(body, s.name, size)
		if err != nil {
			return err
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if got = answer.spans[0]; len(answer.spans) > 1 {
			return newFault("invalid response: the strict tag %q has more than one range", s.name)
		}
		if got.from <= s.highest {
			return newFault("it returned %d of the strict tag %q after %d: a proxy caches responses, or the servers do not share one database", got.from, s.name, s.highest)
		}
		s.highest = got.to
		return nil
	})
	return got, err
}

// answered gives the result to the batch, and reports whether to pause before the next request.
func (s *strictTag) answered(got span, err error) (pause bool) {
	if err == nil {
		s.stats.loaded()
		for _, call := range s.inBatch {
			call.settle(strictResult{span: span{got.from, got.from + call.count - 1}})
			got.from += call.count
		}
		s.inBatch = nil
		return false
	}
	isFirst := s.stats.failed(err)
	if isPassing(err) {
		if isFirst && s.closed == nil {
			s.client.options.Logger.Warn("leaf: load failed", "tag", s.name, "error", err)
		}
		s.putBack()
		return true
	}
	var refused *Error
	errors.As(err, &refused)
	if refused.Code == CodeTagExhausted {
		s.keep(refused)
	}
	s.refuse(refused)
	return false
}

// keep remembers that the tag has fewer IDs left than the batch wants.
func (s *strictTag) keep(refusal *Error) {
	size := int64(0)
	for _, call := range s.inBatch {
		size += call.count
	}
	now := time.Now()
	if now.Before(s.exhaustedUntil) {
		size = min(size, s.tooMany)
	}
	s.exhausted, s.exhaustedUntil, s.tooMany = refusal, now.Add(refusalKept), size
	// It depends on the size of the request: a smaller one is sent without a pause.
	s.policy = newPolicy(s.name)
}

// refuse fails the batch. If one caller wants more than the tag has left, the others may still succeed: they go alone.
func (s *strictTag) refuse(refusal *Error) {
	if refusal.Code == CodeTagExhausted && len(s.inBatch) > 1 {
		s.divided = s.putBack()
		return
	}
	for _, call := range s.inBatch {
		call.settle(strictResult{err: refusal})
	}
	s.inBatch = nil
}

// putBack lets the callers of the batch wait again, and returns their number.
func (s *strictTag) putBack() int {
	batch := slices.DeleteFunc(s.inBatch, func(c *strictCall) bool { return c.settled })
	s.waiting = append(batch, s.waiting...)
	s.inBatch = nil
	return len(batch)
}

func (c *strictCall) settle(r strictResult) {
	if !c.settled {
		c.settled = true
		c.result <- r
	}
}

func (s *strictTag) isIdle() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.running
}

func (s *strictTag) close(reason *Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = reason
	for _, call := range append(s.inBatch, s.waiting...) {
		call.settle(strictResult{err: reason})
	}
	s.waiting = nil
}
