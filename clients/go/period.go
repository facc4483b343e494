package leaf

import (
	"context"
	"net/url"
	"strconv"
	"sync"
	"time"
)

// PeriodNumber is a number of a tag that restarts in each period. It is unique only with the period.
type PeriodNumber struct {
	// Period is the name of the period, such as 2026-11.
	Period string
	Number int64
}

// periodTag has the state of one tag with periods.
type periodTag struct {
	mu     sync.Mutex
	policy *policy
	recent recent
}

// NextInPeriod returns the next number of the period that contains date, of the current one if date is zero. It sends
// one request, and waits for Options.Timeout at most; a number in a late response becomes a gap. Errors as of Next,
// LEAF_PERIOD_INVALID for a date that is too far from now, and LEAF_TAG_NOT_PERIODIC.
func (c *Client) NextInPeriod(ctx context.Context, tag string, date time.Time) (PeriodNumber, error) {
	if err := checkTag(tag); err != nil {
		return PeriodNumber{}, err
	}
	path := "/api/segment/period/" + tag + "?size=1"
	if !date.IsZero() {
		if year := date.UTC().Year(); year < 1 || year > 9999 {
			return PeriodNumber{}, newError(CodePeriodInvalid, "The year %d of the date is not from 1 to 9999.", year)
		}
		path += "&at=" + url.QueryEscape(date.UTC().Format("2006-01-02T15:04:05.000Z"))
	}
	if err := c.enter(); err != nil {
		return PeriodNumber{}, err
	}
	defer c.leave()
	type result struct {
		PeriodNumber
		err error
	}
	results := make(chan result, 1)
	left := make(chan struct{})
	defer close(left)
	t := c.period(tag)
	// In the background: a server that does not respond is noticed also if the caller has left. A request that was not
	// sent by then is not sent at all.
	isStarted := c.start(func() {
		var r result
		r.err = c.ask(t.policy, request{method: "GET", path: path, token: c.options.Token, nonce: true, left: left}, func(body []byte) error {
			answer, err := readRanges(body, tag, 1)
			if err != nil {
				return err
			}
			if !periodPattern.MatchString(answer.Period) {
				return newFault("invalid response: it has no period")
			}
			t.mu.Lock()
			defer t.mu.Unlock()
			r.PeriodNumber = PeriodNumber{answer.Period, answer.spans[0].from}
			return t.recent.add(answer)
		})
		results <- r
	})
	if !isStarted {
		return PeriodNumber{}, closedError()
	}
	timer := time.NewTimer(c.options.Timeout)
	defer timer.Stop()
	select {
	case r := <-results:
		if r.err != nil {
			return PeriodNumber{}, r.err
		}
		return r.PeriodNumber, nil
	case <-c.closing.Done():
		return PeriodNumber{}, closedError()
	case <-ctx.Done():
	case <-timer.C:
	}
	return PeriodNumber{}, c.late(ctx, "tag "+strconv.Quote(tag), nil)
}

func (c *Client) period(name string) *periodTag {
	c.periodsMu.Lock()
	defer c.periodsMu.Unlock()
	t := c.periods[name]
	if t == nil {
		if len(c.periods) >= maxTags {
			for other := range c.periods {
				delete(c.periods, other)
				break
			}
		}
		t = &periodTag{policy: newPolicy(name)}
		c.periods[name] = t
	}
	return t
}
