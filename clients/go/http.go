package leaf

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

const (
	maxAnswer     = 1 << 20
	maxRetryAfter = time.Minute
)

type request struct {
	method, path, token string
	// body is sent as JSON unless nil.
	body any
	// nonce: the answer must carry that of the request. The path has a query string.
	nonce bool
	// left is closed when nobody waits for the answer any more; nil if it is always of use.
	left <-chan struct{}
}

func newTransport(maxRequests int) *http.Transport {
	return &http.Transport{
		MaxIdleConnsPerHost: maxRequests,
		// Shorter than the keep-alive of the server, so that no request uses a connection that it is closing.
		IdleConnTimeout:    30 * time.Second,
		DisableCompression: true,
		// The standard limit is 10 MiB.
		MaxResponseHeaderBytes: maxAnswer,
		ForceAttemptHTTP2:      true,
	}
}

// ask sends the request to one server after the other, each at most once, until read accepts a body. This is always
// safe: the IDs of a lost response become a gap, and requests with a body are idempotent. The error is always an *Error.
func (c *Client) ask(to *policy, r request, read func(body []byte) error) error {
	// The window sends one request at a time, and must not wait for those for IDs: it would end meanwhile.
	if r.nonce {
		select {
		case c.slots <- struct{}{}:
			defer func() { <-c.slots }()
		case <-r.left:
		case <-c.live.Done():
			return closedError()
		}
	}
	select {
	case <-r.left:
		return newError(CodeServersUnavailable, "The call ended before its request was sent.")
	default:
	}
	tried := map[*server]bool{}
	for c.live.Err() == nil {
		s := c.pool.next(to, tried)
		if s == nil {
			break
		}
		tried[s] = true
		err := c.send(s, r, read)
		c.pool.ended(to, s, err, c.live.Err() != nil)
		if err == nil {
			return nil
		}
		var refused *Error
		if errors.As(err, &refused) && refused.isFinal() {
			return refused
		}
	}
	return c.pool.unavailable(to)
}

// send returns an *Error for a refusal, and a *fault for anything else that is not an answer.
func (c *Client) send(s *server, r request, read func([]byte) error) error {
	ctx, cancel := context.WithTimeout(c.live, c.options.RequestTimeout)
	defer cancel()
	address := s.url + r.path
	nonce := ""
	if r.nonce {
		var random [16]byte
		if _, err := rand.Read(random[:]); err != nil {
			return newError(CodeInternal, "The system has no random numbers: %v.", err)
		}
		nonce = hex.EncodeToString(random[:])
		address += "&nonce=" + nonce
	}
	var content io.Reader
	if r.body != nil {
		text, err := json.Marshal(r.body)
		if err != nil {
			return newError(CodeInternal, "A request cannot be encoded: %v.", err)
		}
		content = bytes.NewReader(text)
	}
	sent, err := http.NewRequestWithContext(ctx, r.method, address, content)
	if err != nil {
		return newError(CodeInternal, "A request cannot be created: %v.", err)
	}
	sent.Header.Set("Accept", "application/json, application/problem+json")
	sent.Header.Set("Cache-Control", "no-store")
	if r.body != nil {
		sent.Header.Set("Content-Type", "application/json")
	}
	if r.token != "" {
		sent.Header.Set("Authorization", "Bearer "+r.token)
	}
	answer, err := c.http.Do(sent)
	if err != nil {
		// An *url.Error contains the URL, and that of a window the lease, which is a secret.
		if outer := (*url.Error)(nil); errors.As(err, &outer) {
			err = outer.Err
		}
		return &fault{"no response: " + err.Error(), -1, err}
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer+1))
	if err != nil {
		return &fault{"no response: " + err.Error(), -1, err}
	}
	if len(text) > maxAnswer {
		return newFault("no response: it is longer than 1 MiB")
	}
	if answer.StatusCode != 200 && (r.nonce || answer.StatusCode != 201 && answer.StatusCode != 204) {
		return c.refusalOf(answer, text)
	}
	// Servers of earlier versions return no nonce.
	if got := answer.Header.Get("leaf-nonce"); r.nonce && got != "" && got != nonce {
		return newFault("invalid response: it belongs to another request. A cache or proxy returns one response to several clients; configure it to forward every request to /api/ and to cache no response")
	}
	return read(text)
}

// refusalOf converts a response other than an answer.
func (c *Client) refusalOf(answer *http.Response, text []byte) error {
	status := answer.StatusCode
	retryAfter := time.Duration(-1)
	if status == 503 || status == 429 {
		retryAfter = parseRetryAfter(answer.Header.Get("Retry-After"), c.options.Clock)
	}
	var problem struct {
		Code   Code   `json:"code"`
		Detail string `json:"detail"`
	}
	kind, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	if kind != "application/problem+json" || json.Unmarshal(text, &problem) != nil || problem.Code == "" {
		hint := ""
		if status >= 300 && status < 400 {
			hint = "; redirects are not followed"
		}
		failure := newFault("status %d without an error of a Leaf server%s", status, hint)
		failure.retryAfter = retryAfter
		return failure
	}
	detail := problem.Detail[:min(len(problem.Detail), 1000)]
	switch {
	case problem.Code == CodeInternal:
		return newFault("status %d %s: %s", status, problem.Code, detail)
	case contains(knownCodes, problem.Code):
		return &Error{Code: problem.Code, Message: detail, RetryAfter: max(0, retryAfter), status: status}
	case status >= 400 && status < 500 && status != 429:
		e := newError(CodeRequestInvalid, "The server returned %d %.64s, which is unknown to this client: %s", status, problem.Code, detail)
		e.status = status
		return e
	}
	failure := newFault("the server returned %d %.64s, which is unknown to this client: %s", status, problem.Code, detail)
	failure.retryAfter = retryAfter
	return failure
}

// parseRetryAfter reads seconds or a date; -1 without a valid one.
func parseRetryAfter(header string, clock func() int64) time.Duration {
	if seconds, err := strconv.ParseUint(header, 10, 30); err == nil {
		return min(maxRetryAfter, time.Duration(seconds)*time.Second)
	}
	if date, err := http.ParseTime(header); err == nil {
		return min(maxRetryAfter, max(0, time.Duration(date.UnixMilli()-clock())*time.Millisecond))
	}
	return -1
}
