package leaf

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func newStrictServer(t *testing.T) *fakeServer {
	s := newServer(t)
	s.strict = true
	return s
}

func TestStrictTagsAreNotPrefetched(t *testing.T) {
	s := newStrictServer(t)
	c := newClient(t, Options{Preload: Preload{Tags: []string{"ledger"}}}, s)
	if err := c.Ready(bg); err != nil {
		t.Fatal(err)
	}
	// The 100 IDs of the answer that showed the order are dropped.
	for want := int64(101); want < 110; want++ {
		if got := must(c.Next(bg, "ledger"))(t); got != want {
			t.Fatalf("got %d, want %d", got, want)
		}
	}
	if got := must(c.NextN(bg, "ledger", 3))(t); !slices.Equal(got, []int64{110, 111, 112}) {
		t.Fatalf("got %v", got)
	}
	if id, ok := c.TryNext("ledger"); ok {
		t.Fatalf("TryNext returned %d", id)
	}
}

func TestAStrictRequestIsForTheCallersThatWaitWhenItIsSent(t *testing.T) {
	s := newStrictServer(t)
	c := newClient(t, Options{}, s)
	must(c.Next(bg, "ledger"))(t)
	release := make(chan struct{})
	var underWay, most atomic.Int64
	s.setHook(func(w http.ResponseWriter, r *http.Request, _ map[string]any) bool {
		most.Store(max(most.Load(), underWay.Add(1)))
		defer underWay.Add(-1)
		<-release
		return false
	})
	strict := c.known["ledger"].strict.Load()
	var wg sync.WaitGroup
	take := func() {
		wg.Add(1)
		go func() { defer wg.Done(); must(c.Next(bg, "ledger"))(t) }()
	}
	waits := func(inBatch, waiting int) func() bool {
		return func() bool {
			strict.mu.Lock()
			defer strict.mu.Unlock()
			return len(strict.inBatch) == inBatch && len(strict.waiting) == waiting
		}
	}
	take()
	eventually(t, "the first request", waits(1, 0))
	for range 5 {
		take()
	}
	eventually(t, "five that wait", waits(1, 5))
	close(release)
	wg.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if got := s.sizes[len(s.sizes)-2:]; !slices.Equal(got, []int64{1, 5}) || most.Load() != 1 {
		t.Fatalf("sizes %v, %d requests at a time", got, most.Load())
	}
}

func TestStrictAnswersThatDoNotAscendAreRefused(t *testing.T) {
	s := newStrictServer(t)
	c := newClient(t, Options{}, s)
	last := must(c.Next(bg, "ledger"))(t)
	s.setHook(func(w http.ResponseWriter, r *http.Request, _ map[string]any) bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.next["ledger"] = last - 1
		return false
	})
	ctx, cancel := context.WithTimeout(bg, 100*time.Millisecond)
	defer cancel()
	_, err := c.Next(ctx, "ledger")
	wantCode(t, err, CodeServersUnavailable)
	s.setHook(nil)
	s.mu.Lock()
	s.next["ledger"] = last + 1000
	s.mu.Unlock()
	eventually(t, "a higher ID", func() bool {
		id, err := c.Next(bg, "ledger")
		return err == nil && id > last
	})
}

func TestACallThatStartsAfterAnAnswerGetsAHigherID(t *testing.T) {
	s := newStrictServer(t)
	var n atomic.Int64
	s.setHook(func(w http.ResponseWriter, r *http.Request, _ map[string]any) bool {
		if n.Add(1)%7 != 0 {
			return false
		}
		hangUp(w)
		return true
	})
	c := newClient(t, Options{}, s)
	var highest atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range 50 {
				before := highest.Load()
				id := must(c.Next(bg, "ledger"))(t)
				if id <= before {
					t.Errorf("%d after %d", id, before)
				}
				for now := highest.Load(); id > now && !highest.CompareAndSwap(now, id); now = highest.Load() {
				}
			}
		}()
	}
	wg.Wait()
}

func TestAnExhaustedStrictTagServesSmallCalls(t *testing.T) {
	s := newStrictServer(t)
	c := newClient(t, Options{}, s)
	must(c.Next(bg, "ledger"))(t)
	gate := make(chan struct{})
	s.setHook(func(w http.ResponseWriter, r *http.Request, _ map[string]any) bool {
		<-gate
		if len(r.URL.Query().Get("size")) < 2 {
			return false
		}
		refuse(w, 503, "LEAF_TAG_EXHAUSTED")
		return true
	})
	strict := c.known["ledger"].strict.Load()
	results := make(chan error, 3)
	for _, n := range []int{1, 50, 2} {
		go func() { _, err := c.NextN(bg, "ledger", n); results <- err }()
		eventually(t, "a call that waits", func() bool {
			strict.mu.Lock()
			defer strict.mu.Unlock()
			return len(strict.inBatch) == 1 && (n == 1 || len(strict.waiting) > 0)
		})
	}
	close(gate)
	failed := 0
	for range 3 {
		if err := <-results; err != nil {
			wantCode(t, err, CodeTagExhausted)
			failed++
		}
	}
	if failed != 1 {
		t.Fatalf("%d calls failed", failed)
	}
}

func TestAUsedUpStrictTagIsAskedOnceASecondForAsManyIDs(t *testing.T) {
	s := newStrictServer(t)
	c := newClient(t, Options{}, s)
	must(c.Next(bg, "ledger"))(t)
	var left atomic.Int64
	var asked []string
	left.Store(2)
	s.setHook(func(w http.ResponseWriter, r *http.Request, _ map[string]any) bool {
		size := r.URL.Query().Get("size")
		s.mu.Lock()
		asked = append(asked, size)
		s.mu.Unlock()
		if n, _ := strconv.ParseInt(size, 10, 64); n <= left.Load() {
			return false
		}
		refuse(w, 503, "LEAF_TAG_EXHAUSTED")
		return true
	})
	refused := func(n int) {
		t.Helper()
		for range 10 {
			_, err := c.NextN(bg, "ledger", n)
			wantCode(t, err, CodeTagExhausted)
		}
	}
	refused(5)
	refused(3)
	must(c.NextN(bg, "ledger", 2))(t)
	refused(3)
	s.mu.Lock()
	if !slices.Equal(asked, []string{"5", "3", "2"}) {
		t.Errorf("sizes %v", asked)
	}
	s.mu.Unlock()
	left.Store(5)
	eventually(t, "IDs a second later", func() bool { _, err := c.NextN(bg, "ledger", 5); return err == nil })
}

func TestOnlyTheCallersOfARefusedBatchGoAlone(t *testing.T) {
	s := newStrictServer(t)
	strict := &strictTag{client: newClient(t, Options{}, s), name: "ledger"}
	wait := func(n int) {
		for range n {
			strict.waiting = append(strict.waiting, &strictCall{count: 1, result: make(chan strictResult, 1)})
		}
	}
	wait(3)
	sizes := []int64{strict.form()}
	strict.answered(span{}, newError(CodeTagExhausted, "refused"))
	wait(2)
	for range 4 {
		sizes = append(sizes, strict.form())
	}
	if !slices.Equal(sizes, []int64{3, 1, 1, 1, 2}) {
		t.Fatalf("got %v", sizes)
	}
}

func TestCloseRejectsCallersOfAStrictTag(t *testing.T) {
	s := newStrictServer(t)
	c := newClient(t, Options{}, s)
	must(c.Next(bg, "ledger"))(t)
	s.setHook(func(w http.ResponseWriter, r *http.Request, _ map[string]any) bool { <-r.Context().Done(); return true })
	failed := make(chan error)
	go func() { _, err := c.Next(bg, "ledger"); failed <- err }()
	eventually(t, "a waiting call", func() bool { return c.Snapshot().Waiting == 1 })
	if err := c.Close(bg); err != nil {
		t.Fatal(err)
	}
	wantCode(t, <-failed, CodeNotReady)
}
