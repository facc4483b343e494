package leaf

import (
	crand "crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"
)

// lease sends the requests under one lease. Each can be repeated: the server then returns the same window.
type lease struct {
	client *Client
	// id is a secret: who knows it can release the worker ID.
	id     string
	policy *policy
	// known is until of the newest answer; nil before it, and after a server of an earlier version has refused it.
	// mark is that of the last try; nil after an answer.
	known, mark *int64
}

// newLease mixes the time into the lease: copies of a process may draw the same random bytes.
func newLease(c *Client) (*lease, error) {
	var random [16]byte
	if _, err := crand.Read(random[:]); err != nil {
		return nil, newError(CodeInternal, "The system has no random numbers: %v.", err)
	}
	hash := sha256.Sum256(fmt.Appendf(random[:], "%s %d", time.Now(), c.options.Clock()))
	id := hex.EncodeToString(hash[:16])
	return &lease{client: c, id: id, policy: newPolicy(id)}, nil
}

type windowAnswer struct {
	Lease    string  `json:"lease"`
	WorkerID *int64  `json:"workerId"`
	From     *int64  `json:"from"`
	Until    *int64  `json:"until"`
	Now      *int64  `json:"now"`
	Layout   *Layout `json:"layout"`
}

type windowBody struct {
	Lease         string `json:"lease,omitempty"`
	Holder        string `json:"holder,omitempty"`
	WindowMs      int64  `json:"windowMs,omitempty"`
	WorkerID      *int64 `json:"workerId,omitempty"`
	LastTimestamp *int64 `json:"lastTimestamp,omitempty"`
	Known         *int64 `json:"known,omitempty"`
	Mark          *int64 `json:"mark,omitempty"`
}

func (l *lease) acquire() (answer *windowAnswer, err error) {
	o := l.client.options.Snowflake
	body := windowBody{Lease: l.id, Holder: o.Holder, WindowMs: o.Window.Milliseconds()}
	err = l.send("POST", "", body, func(text []byte) (err error) {
		answer, err = l.read(text)
		return err
	})
	if err == nil {
		l.known, l.mark = answer.Until, nil
	}
	return answer, err
}

func (l *lease) extend(first *windowAnswer) (answer *windowAnswer, err error) {
	if l.known != nil && l.mark == nil {
		// As for the lease: copies draw the same numbers, but not at the same time.
		mark := (rand.Int64N(1000) + time.Now().UnixNano()/100) % 1000
		l.mark = &mark
	}
	body := windowBody{WindowMs: l.client.options.Snowflake.Window.Milliseconds(), WorkerID: first.WorkerID}
	err = l.tell("PUT", body, func(text []byte) (err error) {
		answer, err = l.read(text)
		if err == nil && (*answer.WorkerID != *first.WorkerID || *answer.From != *first.From) {
			err = newFault("invalid response: it is not the window that was to be extended")
		}
		return err
	})
	if err == nil {
		l.known, l.mark = answer.Until, nil
	}
	return answer, err
}

func (l *lease) release(lastUsed int64) error {
	return l.tell("DELETE", windowBody{LastTimestamp: &lastUsed}, func([]byte) error { return nil })
}

// tell sends known and mark with the body; again without them if a server of an earlier version refuses.
func (l *lease) tell(method string, body windowBody, read func([]byte) error) error {
	body.Known, body.Mark = l.known, l.mark
	err := l.send(method, "/"+l.id, body, read)
	if l.known == nil || CodeOf(err) != codeBodyInvalid {
		return err
	}
	l.known, l.mark, body.Known, body.Mark = nil, nil, nil, nil
	return l.send(method, "/"+l.id, body, read)
}

func (l *lease) send(method, path string, body windowBody, read func([]byte) error) error {
	r := request{method: method, path: "/api/workers" + path, body: body, token: l.client.options.Snowflake.Token}
	return l.client.ask(l.policy, r, read)
}

func (l *lease) read(text []byte) (*windowAnswer, error) {
	var a windowAnswer
	if err := json.Unmarshal(text, &a); err != nil {
		return nil, newFault("invalid response: %v", err)
	}
	if a.Lease != l.id {
		return nil, newFault("invalid response: its window belongs to another lease")
	}
	for _, n := range []*int64{a.WorkerID, a.From, a.Until, a.Now} {
		if n == nil || *n < 0 || *n > maxSafe {
			return nil, newFault("invalid response: its window lacks a number")
		}
	}
	if a.Layout == nil || !a.Layout.valid() || *a.WorkerID > a.Layout.maxWorkerID() {
		return nil, newFault("invalid response: its layout is invalid, or its worker ID does not fit")
	}
	return &a, nil
}
