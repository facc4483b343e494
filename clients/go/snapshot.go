package leaf

import (
	"cmp"
	"slices"
	"time"
)

// Snapshot is the state of a client.
type Snapshot struct {
	Servers []ServerState
	// Tags are sorted by name.
	Tags   []TagState
	Window WindowState
	// Waiting is the number of calls that wait for IDs.
	Waiting int64
}

// ServerState is the state of one server.
type ServerState struct {
	URL, Zone string
	// State is serving, ejected or probation.
	State                        string
	Underway, Requests, Failures int64
	FailuresInRow                int
	// LastError is nil after a success.
	LastError error
}

// TagState is the state of one tag.
type TagState struct {
	Tag string
	// Buffered is the number of IDs that are available without waiting; 0 for a strict tag.
	Buffered int64
	// Size of the newest load.
	Size            int64
	Strict, Loading bool
	Loads, Failures int64
	// LastError is nil after a success.
	LastError error
}

// WindowState is the state of the worker window.
type WindowState struct {
	// Held says whether a worker ID is held. WorkerID, From, Until and LastTimestamp are -1 without one.
	Held     bool
	WorkerID int64
	// From, Until and LastTimestamp, that of the newest ID, are in Unix milliseconds.
	From, Until, LastTimestamp int64
	Loads, Failures            int64
	LastError                  error
}

// Snapshot returns the state of the servers, the buffers and the worker window.
func (c *Client) Snapshot() Snapshot {
	s := Snapshot{Waiting: c.waiting.Load(), Window: WindowState{WorkerID: -1, From: -1, Until: -1, LastTimestamp: -1}}
	c.pool.mu.Lock()
	for _, one := range c.pool.servers {
		s.Servers = append(s.Servers, ServerState{one.url, one.zone, one.state(time.Now()), one.underway, one.requests,
			one.failures, one.failuresInRow, one.lastError})
	}
	c.pool.mu.Unlock()
	c.tagsMu.Lock()
	for _, t := range c.known {
		t.mu.Lock()
		state := TagState{t.name, t.buffered(), t.size, false, t.loading, t.stats.loads, t.stats.failures, t.stats.lastError}
		t.mu.Unlock()
		if strict := t.strict.Load(); strict != nil {
			strict.mu.Lock()
			own := strict.stats
			state = TagState{t.name, 0, 0, true, strict.running, state.Loads + own.loads, state.Failures + own.failures, own.lastError}
			strict.mu.Unlock()
		}
		s.Tags = append(s.Tags, state)
	}
	c.tagsMu.Unlock()
	slices.SortFunc(s.Tags, func(a, b TagState) int { return cmp.Compare(a.Tag, b.Tag) })
	w := c.window
	w.mu.Lock()
	s.Window.Loads, s.Window.Failures, s.Window.LastError = w.stats.loads, w.stats.failures, w.stats.lastError
	if t := w.term.Load(); t != nil {
		s.Window.Held, s.Window.WorkerID = true, t.workerID
		s.Window.From, s.Window.Until, s.Window.LastTimestamp = t.from, t.until.Load(), max(t.newest(), w.newest)
	}
	w.mu.Unlock()
	return s
}
