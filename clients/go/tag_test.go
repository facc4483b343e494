package leaf

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

var bg = context.Background()

func TestIDsComeFromMemory(t *testing.T) {
	s := newServer(t)
	c := newClient(t, Options{}, s)
	for want := int64(1); want <= 250; want++ {
		if got := must(c.Next(bg, "order"))(t); got != want {
			t.Fatalf("got %d, want %d", got, want)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sizes[0] != 100 || s.sizes[1] != 100 || len(s.sizes) > 4 {
		t.Fatalf("sizes %v", s.sizes)
	}
}

func TestSizesDoubleWhileALoadLastsLessThanTheDuration(t *testing.T) {
	s := newServer(t)
	c := newClient(t, Options{Segment: SegmentOptions{MaxSize: 400}}, s)
	for range 3000 {
		must(c.Next(bg, "order"))(t)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, want := range []int64{100, 100, 200, 400, 400} {
		if s.sizes[i] != want {
			t.Fatalf("sizes %v", s.sizes)
		}
	}
}

func TestTheNextLoadStartsWhenATenthIsUsed(t *testing.T) {
	s := newServer(t)
	c := newClient(t, Options{}, s)
	requests := func() int {
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.sizes)
	}
	for range 9 {
		must(c.Next(bg, "order"))(t)
	}
	if requests() != 1 {
		t.Fatalf("%d requests before a tenth was used", requests())
	}
	must(c.Next(bg, "order"))(t)
	eventually(t, "the second request", func() bool { return requests() == 2 })
}

func TestNextNTakesAscendingIDsOfSeveralLoads(t *testing.T) {
	s := newServer(t)
	c := newClient(t, Options{}, s)
	must(c.Next(bg, "order"))(t)
	ids := must(c.NextN(bg, "order", 5000))(t)
	for i, id := range ids {
		if id != int64(i)+2 {
			t.Fatalf("ID %d is %d", i, id)
		}
	}
	_, err := c.NextN(bg, "order", 10_001)
	wantCode(t, err, CodeSizeInvalid)
}

func TestTryNextNeverWaits(t *testing.T) {
	s := newServer(t)
	c := newClient(t, Options{Preload: Preload{Tags: []string{"order"}}}, s)
	if _, ok := c.TryNext("order"); ok {
		t.Fatal("an ID without a request")
	}
	if err := c.Ready(bg); err != nil {
		t.Fatal(err)
	}
	for want := int64(1); want <= 100; want++ {
		if id, ok := c.TryNext("order"); !ok || id != want {
			t.Fatalf("got %d %t, want %d", id, ok, want)
		}
	}
}

func TestLostAnswersBecomeGaps(t *testing.T) {
	s := newServer(t)
	var n atomic.Int64
	s.setHook(func(w http.ResponseWriter, r *http.Request, _ map[string]any) bool {
		if n.Add(1)%3 != 1 {
			return false
		}
		s.mu.Lock()
		s.next["order"] += 1000
		s.mu.Unlock()
		hangUp(w)
		return true
	})
	c := newClient(t, Options{}, s)
	var u unique
	for range 2000 {
		u.add(t, must(c.Next(bg, "order"))(t))
	}
}

func TestALateAnswerIsNotUsedAndTheNextServerAnswers(t *testing.T) {
	slow, fast := newServer(t), newServer(t)
	fast.next["order"] = 1_000_000
	slow.setHook(func(w http.ResponseWriter, r *http.Request, _ map[string]any) bool {
		<-r.Context().Done()
		return true
	})
	c := newClient(t, Options{RequestTimeout: 50 * time.Millisecond}, slow, fast)
	for range 500 {
		if id := must(c.Next(bg, "order"))(t); id <= 1_000_000 {
			t.Fatalf("got %d", id)
		}
	}
}

func TestRepeatedAnswersAreRefused(t *testing.T) {
	s := newServer(t)
	s.setHook(func(w http.ResponseWriter, r *http.Request, _ map[string]any) bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		if len(s.sizes) > 0 {
			s.next["order"] = 50
		}
		return false
	})
	c := newClient(t, Options{Timeout: 3 * time.Second}, s)
	var u unique
	for {
		id, err := c.Next(bg, "order")
		if err != nil {
			wantCode(t, err, CodeServersUnavailable)
			if !strings.Contains(err.Error(), "repeated") {
				t.Fatal(err)
			}
			break
		}
		u.add(t, id)
	}
	if len(u.seen) != 100 {
		t.Fatalf("%d IDs", len(u.seen))
	}
}

func TestInvalidAnswersAreRefused(t *testing.T) {
	for name, answer := range map[string]string{
		"too many":          `{"tag":"order","ranges":[{"from":"1","to":"101"}]}`,
		"too few":           `{"tag":"order","ranges":[{"from":"1","to":"99"}]}`,
		"descending":        `{"tag":"order","ranges":[{"from":"101","to":"150"},{"from":"1","to":"50"}]}`,
		"numbers":           `{"tag":"order","ranges":[{"from":1,"to":100}]}`,
		"leading zero":      `{"tag":"order","ranges":[{"from":"01","to":"100"}]}`,
		"zero":              `{"tag":"order","ranges":[{"from":"0","to":"99"}]}`,
		"above 2^63":        `{"tag":"order","ranges":[{"from":"9223372036854775709","to":"9223372036854775808"}]}`,
		"wraps":             `{"tag":"order","ranges":[{"from":"1","to":"9223372036854775807"}]}`,
		"another tag":       `{"tag":"orders","ranges":[{"from":"1","to":"100"}]}`,
		"no JSON":           `<html>`,
		"longer than 1 MiB": strings.Repeat(" ", 1<<20) + `{"tag":"order","ranges":[{"from":"1","to":"100"}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			s.setHook(func(w http.ResponseWriter, r *http.Request, _ map[string]any) bool {
				w.Write([]byte(answer))
				return true
			})
			c := newClient(t, Options{Timeout: 100 * time.Millisecond}, s)
			_, err := c.Next(bg, "order")
			wantCode(t, err, CodeServersUnavailable)
		})
	}
}

func TestAnswersWithLargeHeadersAreRefused(t *testing.T) {
	s := newServer(t)
	s.setHook(func(w http.ResponseWriter, r *http.Request, _ map[string]any) bool {
		w.Header().Set("x", strings.Repeat("x", 2*maxAnswer))
		return false
	})
	c := newClient(t, Options{Timeout: 100 * time.Millisecond}, s)
	_, err := c.Next(bg, "order")
	wantCode(t, err, CodeServersUnavailable)
}

func TestTheLastIDIs2To63Minus1(t *testing.T) {
	s := newServer(t)
	s.next["order"] = 1<<63 - 1 - 100
	c := newClient(t, Options{}, s)
	ids := must(c.NextN(bg, "order", 100))(t)
	if ids[99] != 1<<63-1 {
		t.Fatalf("got %d", ids[99])
	}
}

func TestAnswersToOtherRequestsAreRefused(t *testing.T) {
	s := newServer(t)
	s.setHook(func(w http.ResponseWriter, r *http.Request, _ map[string]any) bool {
		w.Header().Set("leaf-nonce", "another")
		return false
	})
	c := newClient(t, Options{Timeout: 100 * time.Millisecond}, s)
	_, err := c.Next(bg, "order")
	wantCode(t, err, CodeServersUnavailable)
}

func TestRefusalsAreGivenToAllCallsForASecond(t *testing.T) {
	s := newServer(t)
	var requests atomic.Int64
	s.setHook(func(w http.ResponseWriter, r *http.Request, _ map[string]any) bool {
		requests.Add(1)
		refuse(w, 404, "LEAF_TAG_NOT_FOUND")
		return true
	})
	c := newClient(t, Options{}, s)
	for range 20 {
		_, err := c.Next(bg, "order")
		wantCode(t, err, CodeTagNotFound)
	}
	if n := requests.Load(); n != 1 {
		t.Fatalf("%d requests", n)
	}
	eventually(t, "another request", func() bool {
		c.Next(bg, "order")
		return requests.Load() == 2
	})
}

func TestAServerThatRefusesRestsForThatTag(t *testing.T) {
	first, second := newServer(t), newServer(t)
	second.next["order"], second.next["other"] = 1_000_000, 1_000_000
	var refused, others atomic.Int64
	first.setHook(func(w http.ResponseWriter, r *http.Request, _ map[string]any) bool {
		if !strings.HasSuffix(r.URL.Path, "/order") {
			others.Add(1)
			return false
		}
		refused.Add(1)
		refuse(w, 503, "LEAF_TAG_PAUSED")
		return true
	})
	c := newClient(t, Options{Zone: "a", Segment: SegmentOptions{MaxSize: 100}}, first, second)
	c.pool.servers[0].zone = "a"
	begun := time.Now()
	for range 1000 {
		if id := must(c.Next(bg, "order"))(t); id < 1_000_000 {
			t.Fatalf("got %d", id)
		}
		must(c.Next(bg, "other"))(t)
	}
	// It is asked again after Retry-After, a second.
	if refused.Load() > 2+int64(time.Since(begun)/time.Second) || others.Load() < 5 {
		t.Fatalf("%d requests for the paused tag, %d for the other one", refused.Load(), others.Load())
	}
}

func TestOutage(t *testing.T) {
	s := newServer(t)
	var down atomic.Bool
	s.setHook(func(w http.ResponseWriter, r *http.Request, _ map[string]any) bool {
		if down.Load() {
			hangUp(w)
		}
		return down.Load()
	})
	c := newClient(t, Options{Timeout: time.Second, Ejection: EjectionOptions{Max: time.Second}}, s)
	must(c.Next(bg, "order"))(t)
	down.Store(true)
	var u unique
	var err error
	for err == nil {
		var id int64
		if id, err = c.Next(bg, "order"); err == nil {
			u.add(t, id)
		}
	}
	wantCode(t, err, CodeServersUnavailable)
	if len(u.seen) < 99 {
		t.Fatalf("only %d IDs from memory", len(u.seen))
	}
	if state := c.Snapshot().Servers[0].State; state == "serving" {
		t.Fatal("the server was not ejected")
	}
	down.Store(false)
	eventually(t, "IDs after the outage", func() bool {
		id, err := c.Next(bg, "order")
		if err == nil {
			u.add(t, id)
		}
		return err == nil
	})
}

func TestZones(t *testing.T) {
	near, far := newServer(t), newServer(t)
	far.next["order"] = 1_000_000
	c := newClient(t, Options{Zone: "a", Timeout: 10 * time.Second, Servers: []Server{{far.URL, "b"}, {near.URL, "a"}}})
	if id := must(c.Next(bg, "order"))(t); id != 1 {
		t.Fatalf("got %d", id)
	}
	near.setHook(func(w http.ResponseWriter, r *http.Request, _ map[string]any) bool { hangUp(w); return true })
	eventually(t, "IDs of the other zone", func() bool { return must(c.Next(bg, "order"))(t) > 1_000_000 })
}

func TestContextEndsACall(t *testing.T) {
	s := newServer(t)
	s.setHook(func(w http.ResponseWriter, r *http.Request, _ map[string]any) bool { <-r.Context().Done(); return true })
	c := newClient(t, Options{}, s)
	ctx, cancel := context.WithTimeout(bg, 20*time.Millisecond)
	defer cancel()
	_, err := c.Next(ctx, "order")
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	wantCode(t, err, CodeServersUnavailable)
}

func TestTooManyWaitingCalls(t *testing.T) {
	s := newServer(t)
	s.setHook(func(w http.ResponseWriter, r *http.Request, _ map[string]any) bool { <-r.Context().Done(); return true })
	c := newClient(t, Options{MaxWaiting: 1}, s)
	ctx, cancel := context.WithCancel(bg)
	done := make(chan struct{})
	go func() { defer close(done); c.Next(ctx, "order") }()
	eventually(t, "a waiting call", func() bool { return c.Snapshot().Waiting == 1 })
	_, err := c.Next(bg, "order")
	wantCode(t, err, CodeOverloaded)
	cancel()
	<-done
}

func TestConcurrentCallsGetUniqueIDs(t *testing.T) {
	s := newServer(t)
	c := newClient(t, Options{}, s)
	var u unique
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			last := int64(0)
			for i := range 3000 {
				var ids []int64
				switch {
				case g == 0 && i%100 == 0:
					ids = must(c.NextN(bg, "order", 700))(t)
				case g == 1:
					if id, ok := c.TryNext("order"); ok {
						ids = []int64{id}
					}
				default:
					ids = []int64{must(c.Next(bg, "order"))(t)}
				}
				for _, id := range ids {
					if id <= last {
						t.Errorf("%d after %d", id, last)
					}
					last = id
				}
				u.add(t, ids...)
			}
		}()
	}
	wg.Wait()
}

func TestCloseRejectsWaitingCalls(t *testing.T) {
	s := newServer(t)
	s.setHook(func(w http.ResponseWriter, r *http.Request, _ map[string]any) bool { <-r.Context().Done(); return true })
	c := newClient(t, Options{}, s)
	failed := make(chan error)
	go func() { _, err := c.Next(bg, "order"); failed <- err }()
	eventually(t, "a waiting call", func() bool { return c.Snapshot().Waiting == 1 })
	if err := c.Close(bg); err != nil {
		t.Fatal(err)
	}
	wantCode(t, <-failed, CodeNotReady)
	for _, tag := range []string{"order", "other"} {
		_, err := c.Next(bg, tag)
		wantCode(t, err, CodeNotReady)
	}
	_, err := c.Snowflake()
	wantCode(t, err, CodeNotReady)
}

// exhaustAfter refuses requests for more IDs than there are up to last.
func (s *fakeServer) exhaustAfter(last int64) {
	s.setHook(func(w http.ResponseWriter, r *http.Request, _ map[string]any) bool {
		size, _ := strconv.ParseInt(r.URL.Query().Get("size"), 10, 64)
		s.mu.Lock()
		defer s.mu.Unlock()
		tag := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
		if s.next[tag]+size <= last {
			return false
		}
		s.sizes = append(s.sizes, size)
		refuse(w, 503, "LEAF_TAG_EXHAUSTED")
		return true
	})
}

func TestTheLastIDsOfATag(t *testing.T) {
	s := newServer(t)
	s.exhaustAfter(5)
	c := newClient(t, Options{}, s)
	first := must(c.Next(bg, "few"))(t)
	ids := append([]int64{first}, must(c.NextN(bg, "few", 3))(t)...)
	if ids = append(ids, must(c.Next(bg, "few"))(t)); !slices.Equal(ids, []int64{1, 2, 3, 4, 5}) {
		t.Fatalf("got %v", ids)
	}
	_, err := c.Next(bg, "few")
	wantCode(t, err, CodeTagExhausted)
}

func TestTheLastIDsTakeFewRequests(t *testing.T) {
	s := newServer(t)
	s.exhaustAfter(9000)
	c := newClient(t, Options{}, s)
	_, err := c.NextN(bg, "few", 10_000)
	wantCode(t, err, CodeTagExhausted)
	for want := int64(1); want <= 9000; want++ {
		if got := must(c.Next(bg, "few"))(t); got != want {
			t.Fatalf("got %d, want %d", got, want)
		}
	}
	_, err = c.Next(bg, "few")
	wantCode(t, err, CodeTagExhausted)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.sizes) > 150 {
		t.Fatalf("%d requests", len(s.sizes))
	}
}

func TestManyTags(t *testing.T) {
	s := newServer(t)
	c := newClient(t, Options{}, s)
	for i := range 2000 {
		if _, err := c.open("tag" + string(rune('a'+i%26)) + strings.Repeat("x", i/26)); err != nil {
			t.Fatal(err)
		}
	}
	_, err := c.open("..")
	wantCode(t, err, CodeTagInvalid)
	if got := must(c.Next(bg, "taga"))(t); got != 1 {
		t.Fatalf("got %d", got)
	}
}

func TestPeriods(t *testing.T) {
	s := newServer(t)
	c := newClient(t, Options{}, s)
	got := must(c.NextInPeriod(bg, "invoice", time.Date(2026, 11, 27, 0, 0, 0, 0, time.UTC)))(t)
	if got != (PeriodNumber{"2026-11", 1}) {
		t.Fatalf("got %v", got)
	}
	s.setHook(func(w http.ResponseWriter, r *http.Request, _ map[string]any) bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.next["invoice"] = 0
		return false
	})
	_, err := c.NextInPeriod(bg, "invoice", time.Time{})
	wantCode(t, err, CodeServersUnavailable)
}

func TestAPeriodRequestIsNotSentAfterItsCallerHasLeft(t *testing.T) {
	s := newServer(t)
	c := newClient(t, Options{MaxRequests: 1, RequestTimeout: time.Minute}, s)
	gate := make(chan struct{})
	var asked atomic.Int64
	s.setHook(func(w http.ResponseWriter, r *http.Request, _ map[string]any) bool {
		if strings.Contains(r.URL.Path, "/period/") {
			asked.Add(1)
		}
		<-gate
		return false
	})
	go c.Next(bg, "order")
	eventually(t, "a request", func() bool { return len(c.slots) == 1 })
	for range 100 {
		ctx, cancel := context.WithTimeout(bg, time.Millisecond)
		_, err := c.NextInPeriod(ctx, "invoice", time.Time{})
		wantCode(t, err, CodeServersUnavailable)
		cancel()
	}
	close(gate)
	must(c.NextInPeriod(bg, "invoice", time.Time{}))(t)
	if n := asked.Load(); n != 1 {
		t.Fatalf("%d requests", n)
	}
}

func TestOptions(t *testing.T) {
	_, err := New(Options{Servers: []Server{{URL: "ftp://x"}}, MaxRequests: -1, Layout: &Layout{}, Token: "a b"})
	wantCode(t, err, CodeConfigInvalid)
	for _, name := range []string{"Servers[0].URL", "MaxRequests", "Layout", "Token"} {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("%s is missing in: %v", name, err)
		}
	}
}

func TestNextAllocatesNothing(t *testing.T) {
	c, tag := bufferedClient(t, 1_000_000)
	if n := testing.AllocsPerRun(1000, func() { c.Next(bg, tag) }); n != 0 {
		t.Fatalf("%f allocations", n)
	}
}
