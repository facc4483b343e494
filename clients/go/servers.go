package leaf

import (
	"errors"
	"hash/fnv"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"time"
)

// refusalPause is the pause after a refusal without Retry-After, and the shortest one before a server is asked again.
const refusalPause = time.Second

// server is one server with its health:
//
//   - serving: it gets requests. Failures in a row lead to ejected.
//   - ejected: it gets no requests, for longer each time; then it is in probation.
//   - probation: it gets one request. Success leads to serving, failure back to ejected.
//
// When no other server is left, an ejected one gets a request early.
type server struct {
	url, zone string

	failuresInRow, ejections     int
	requests, failures, underway int64
	ejectedUntil, heldUntil      time.Time
	failedAt                     time.Time
	probing                      bool
	lastError                    error
}

func (s *server) state(now time.Time) string {
	switch {
	case s.ejections == 0:
		return "serving"
	case now.Before(s.ejectedUntil):
		return "ejected"
	}
	return "probation"
}

func (s *server) admits(now time.Time) bool {
	state := s.state(now)
	return state == "serving" || state == "probation" && !s.probing
}

// policy is the state of the requests for one tag, or under one lease: they stay with one server while it serves them,
// and a server that refused gets none until its Retry-After has passed.
type policy struct {
	key      string
	refusals map[*server]refusal
}

type refusal struct {
	err          *Error
	since, until time.Time
}

func newPolicy(key string) *policy { return &policy{key: key, refusals: map[*server]refusal{}} }

// pool selects the servers. Its lock guards them and all policies.
type pool struct {
	mu       sync.Mutex
	servers  []*server
	zone     string
	seed     uint64
	ejection EjectionOptions
	log      *slog.Logger
}

func newPool(o *Options) *pool {
	p := &pool{zone: o.Zone, seed: rand.Uint64(), ejection: o.Ejection, log: o.Logger}
	for _, s := range o.Servers {
		p.servers = append(p.servers, &server{url: s.URL, zone: s.Zone})
	}
	return p
}

// next marks the server for the next request as in use; nil when none is left.
func (p *pool) next(to *policy, tried map[*server]bool) *server {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	able := p.able(now, func(s *server) bool { return !tried[s] && !now.Before(to.refusals[s].until) })
	if len(able) == 0 {
		able = p.able(now, func(s *server) bool { return !tried[s] && now.Sub(to.refusals[s].since) >= refusalPause })
	}
	best := preferred(able, to.key, p.seed, func(s *server) bool { return p.zone != "" && s.zone == p.zone })
	if best == nil {
		best = preferred(able, to.key, p.seed, func(*server) bool { return true })
	}
	if best != nil {
		best.probing = best.ejections > 0
		best.underway++
		best.requests++
	}
	return best
}

// able returns the healthy servers; if there are none, those that may be tried early.
func (p *pool) able(now time.Time, willing func(*server) bool) (able []*server) {
	var early []*server
	for _, s := range p.servers {
		switch {
		case !willing(s):
		case s.admits(now):
			able = append(able, s)
		case !s.probing && !now.Before(s.heldUntil) && now.Sub(s.failedAt) >= p.ejection.First:
			early = append(early, s)
		}
	}
	if len(able) == 0 {
		return early
	}
	return able
}

// preferred is the server with the highest score for the key: rendezvous hashing.
func preferred(servers []*server, key string, seed uint64, fits func(*server) bool) (best *server) {
	var highest uint64
	for _, s := range servers {
		if !fits(s) {
			continue
		}
		hash := fnv.New64a()
		hash.Write([]byte(s.url + "\n" + key))
		score := (hash.Sum64() ^ seed) * 0x9e3779b97f4a7c15
		score ^= score >> 32
		if best == nil || score > highest {
			best, highest = s, score
		}
	}
	return best
}

// ended records the result of a request. closing: the client ended it, which says nothing about the server.
func (p *pool) ended(to *policy, s *server, err error, closing bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	s.underway--
	var refused *Error
	if err == nil || errors.As(err, &refused) {
		if s.ejections > 0 {
			p.log.Info("leaf: server readmitted", "server", s.url)
		}
		s.failuresInRow, s.ejections, s.probing, s.lastError = 0, 0, false, nil
		if refused == nil {
			delete(to.refusals, s)
		} else if !refused.isFinal() {
			pause := refused.RetryAfter
			if pause == 0 {
				pause = refusalPause
			}
			to.refusals[s] = refusal{refused, now, now.Add(pause)}
		}
		return
	}
	// A request that was sent before the ejection is no new information.
	late := s.state(now) == "ejected" && !s.probing
	s.probing = false
	if closing {
		return
	}
	s.failures++
	s.failuresInRow++
	s.lastError, s.failedAt = err, now
	var failure *fault
	held := time.Duration(-1)
	if errors.As(err, &failure) {
		held = failure.retryAfter
	}
	if until := now.Add(held); until.After(s.heldUntil) {
		s.heldUntil = until
	}
	if late || s.ejections == 0 && s.failuresInRow < p.ejection.Failures && held < 0 {
		return
	}
	s.ejections++
	pause := max(held, backoff(s.ejections, p.ejection.First, p.ejection.Max))
	s.ejectedUntil = now.Add(pause)
	p.log.Warn("leaf: server ejected", "server", s.url, "error", err, "for", pause)
}

// unavailable is the error after all servers: their refusal if all refuse, or else what each one lacks.
func (p *pool) unavailable(to *policy) *Error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var last *Error
	refused := 0
	causes := make([]string, 0, len(p.servers))
	for _, s := range p.servers {
		reason := "a probe after a failure is in progress"
		if r := to.refusals[s]; time.Now().Before(r.until) {
			refused++
			reason = r.err.Error()
			if last == nil || r.err.Retryable() && !last.Retryable() {
				last = r.err
			}
		} else if s.lastError != nil {
			reason = s.lastError.Error()
		}
		causes = append(causes, s.url+": "+reason)
	}
	if refused == len(p.servers) {
		return last
	}
	return newError(CodeServersUnavailable,
		"No Leaf server is available. The client recovers by itself; check that the servers are up and reachable. %s.",
		strings.Join(causes, "; ")).retryAfter(time.Second)
}
