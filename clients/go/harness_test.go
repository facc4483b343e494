package leaf

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// fakeServer answers as a Leaf server does. hook, if set, sees each request first, and returns true if it answered.
type fakeServer struct {
	*httptest.Server
	mu      sync.Mutex
	next    map[string]int64
	sizes   []int64
	strict  bool
	hook    func(w http.ResponseWriter, r *http.Request, body map[string]any) bool
	windows map[string]map[string]any
	worker  int64
	layout  Layout
	// log has the requests for windows: method and body.
	log []windowRequest
	now func() int64
}

type windowRequest struct {
	method, lease string
	body          map[string]any
}

func newServer(t *testing.T) *fakeServer {
	s := &fakeServer{next: map[string]int64{}, windows: map[string]map[string]any{}, worker: 17, layout: DefaultLayout(),
		now: func() int64 { return time.Now().UnixMilli() }}
	s.Server = httptest.NewServer(s)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

func (s *fakeServer) setHook(hook func(w http.ResponseWriter, r *http.Request, body map[string]any) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hook = hook
}

func (s *fakeServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body map[string]any
	if text, _ := io.ReadAll(r.Body); len(text) > 0 {
		if err := json.Unmarshal(text, &body); err != nil {
			panic(err)
		}
	}
	s.mu.Lock()
	hook := s.hook
	s.mu.Unlock()
	if nonce := r.URL.Query().Get("nonce"); nonce != "" {
		w.Header().Set("leaf-nonce", nonce)
	}
	if strings.HasPrefix(r.URL.Path, "/api/workers") {
		s.mu.Lock()
		lease, _ := body["lease"].(string)
		if lease == "" {
			lease = strings.TrimPrefix(r.URL.Path, "/api/workers/")
		}
		s.log = append(s.log, windowRequest{r.Method, lease, body})
		s.mu.Unlock()
	}
	if hook != nil && hook(w, r, body) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if strings.HasPrefix(r.URL.Path, "/api/workers") {
		s.serveWindow(w, r, body)
		return
	}
	size, _ := strconv.ParseInt(r.URL.Query().Get("size"), 10, 64)
	s.sizes = append(s.sizes, size)
	tag := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
	from := s.next[tag] + 1
	s.next[tag] += size
	answer := map[string]any{"tag": tag, "ranges": []map[string]string{{"from": fmt.Sprint(from), "to": fmt.Sprint(from + size - 1)}}}
	if s.strict {
		answer["order"] = "strict"
	}
	if strings.Contains(r.URL.Path, "/period/") {
		answer["period"] = "2026-11"
	}
	send(w, 200, answer)
}

func (s *fakeServer) serveWindow(w http.ResponseWriter, r *http.Request, body map[string]any) {
	now := s.now()
	lease := s.log[len(s.log)-1].lease
	if r.Method == "DELETE" {
		delete(s.windows, lease)
		w.WriteHeader(204)
		return
	}
	held := s.windows[lease]
	if held == nil && r.Method == "PUT" {
		refuse(w, 404, "LEAF_LEASE_NOT_FOUND")
		return
	}
	if held == nil {
		held = map[string]any{"workerId": s.worker, "lease": lease, "from": now, "layout": s.layout}
		s.windows[lease] = held
		s.worker++
	}
	held["until"] = now + int64(body["windowMs"].(float64))
	held["now"] = now
	send(w, 200, held)
}

func send(w http.ResponseWriter, status int, answer any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(answer); err != nil {
		panic(err)
	}
}

func refuse(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("Retry-After", "1")
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"type":"about:blank","status":%d,"code":%q,"detail":"refused"}`, status, code)
}

// hangUp ends the connection without an answer.
func hangUp(w http.ResponseWriter) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err == nil {
		conn.Close()
	}
}

// fakeClock is a wall clock that stands until it is moved.
type fakeClock struct{ atomic.Int64 }

func newClock() *fakeClock {
	c := &fakeClock{}
	c.Store(time.Now().UnixMilli())
	return c
}

func newClient(t *testing.T, options Options, servers ...*fakeServer) *Client {
	t.Helper()
	for _, s := range servers {
		options.Servers = append(options.Servers, Server{URL: s.URL})
	}
	if options.Logger == nil {
		options.Logger = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	c, err := New(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		c.Close(ctx)
	})
	return c
}

func must[T any](value T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

func wantCode(t *testing.T, err error, code Code) {
	t.Helper()
	if CodeOf(err) != code {
		t.Fatalf("got %v, want %s", err, code)
	}
}

// unique fails if an ID comes twice.
type unique struct {
	mu   sync.Mutex
	seen map[int64]bool
}

func (u *unique) add(t *testing.T, ids ...int64) {
	t.Helper()
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.seen == nil {
		u.seen = map[int64]bool{}
	}
	for _, id := range ids {
		if u.seen[id] {
			t.Fatalf("%d came twice", id)
		}
		u.seen[id] = true
	}
}

// eventually waits until look is true.
func eventually(t *testing.T, what string, look func() bool) {
	t.Helper()
	for end := time.Now().Add(5 * time.Second); !look(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not seen: %s", what)
		}
	}
}
