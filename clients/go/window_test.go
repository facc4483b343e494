package leaf

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// held returns a client that holds a worker ID, by a clock that stands.
func held(t *testing.T, options Options) (*Client, *fakeServer, *fakeClock) {
	t.Helper()
	clock := newClock()
	s := newServer(t)
	s.now = clock.Load
	options.Clock = clock.Load
	options.Preload.Snowflake = true
	c := newClient(t, options, s)
	if err := c.Ready(bg); err != nil {
		t.Fatal(err)
	}
	return c, s, clock
}

func (s *fakeServer) requests(method string) (found []windowRequest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.log {
		if r.method == method {
			found = append(found, r)
		}
	}
	return found
}

// loseWindows answers each PUT with 409.
func loseWindows(w http.ResponseWriter, r *http.Request, _ map[string]any) bool {
	if r.Method == "PUT" {
		refuse(w, 409, "LEAF_LEASE_LOST")
	}
	return r.Method == "PUT"
}

// extend makes the client extend its window now.
func extend(c *Client) {
	c.window.mu.Lock()
	defer c.window.mu.Unlock()
	if t := c.window.term.Load(); t != nil {
		t.renewAfter.Store(0)
	}
}

func TestASnowflakeIDHasTheTimeOfTheClock(t *testing.T) {
	c, _, clock := held(t, Options{})
	for range 5 {
		now := clock.Add(20)
		parts := must(c.Decode(must(c.Snowflake())(t)))(t)
		if parts.Timestamp != now || parts.WorkerID != 17 || parts.Sequence >= sequenceStart {
			t.Fatalf("got %+v at %d", parts, now)
		}
	}
}

func TestTheFirstCallWithoutAWorkerIDFailsAndAcquiresOne(t *testing.T) {
	c := newClient(t, Options{}, newServer(t))
	_, err := c.Snowflake()
	wantCode(t, err, CodeNotReady)
	ids := must(c.Snowflakes(bg, 10_000))(t)
	for i, id := range ids[1:] {
		if id <= ids[i] {
			t.Fatalf("%d after %d", id, ids[i])
		}
	}
}

func TestAMillisecondHas4096IDs(t *testing.T) {
	c, _, clock := held(t, Options{})
	clock.Add(100)
	var u unique
	issued := func() (n int) {
		for {
			id, err := c.Snowflake()
			if err != nil {
				wantCode(t, err, CodeOverloaded)
				return n
			}
			u.add(t, id)
			n++
		}
	}
	if n := issued(); n < 3072 || n > 4096 {
		t.Fatalf("%d IDs", n)
	}
	clock.Add(1)
	if n := issued(); n != 4096 {
		t.Fatalf("%d IDs of a millisecond that follows an exhausted one", n)
	}
	// Milliseconds that were missed are used first, up to 8.
	clock.Add(8)
	if n := issued(); n != 8*4096 {
		t.Fatalf("%d IDs of 8 milliseconds", n)
	}
}

func TestClockSteps(t *testing.T) {
	c, _, clock := held(t, Options{})
	clock.Add(100)
	var u unique
	u.add(t, must(c.Snowflake())(t))
	clock.Add(-5)
	u.add(t, must(c.Snowflake())(t))
	clock.Add(-1)
	_, err := c.Snowflake()
	wantCode(t, err, CodeClockBackwards)
	clock.Add(-3_600_000)
	_, err = c.Snowflake()
	wantCode(t, err, CodeClockBackwards)
	clock.Add(3_600_006)
	for range 100 {
		u.add(t, must(c.Snowflake())(t))
	}
	clock.Add(60_000)
	_, err = c.Snowflake()
	wantCode(t, err, CodeLeaseExpired)
	clock.Store(1_000_000)
	_, err = c.Snowflake()
	wantCode(t, err, CodeClockBackwards)
}

func TestNoIDOutsideOfTheWindowWhenTheClockJumpsBetweenReads(t *testing.T) {
	for _, jump := range []int64{20_000, -20_000, 6} {
		clock := newClock()
		var reads, at atomic.Int64
		at.Store(-1)
		s := newServer(t)
		s.now = clock.Load
		c := newClient(t, Options{
			Preload:   Preload{Snowflake: true},
			Snowflake: SnowflakeOptions{Window: 10 * time.Second},
			Clock: func() int64 {
				if reads.Add(1) == at.Load() {
					defer clock.Add(jump)
				}
				return clock.Load()
			},
		}, s)
		if err := c.Ready(bg); err != nil {
			t.Fatal(err)
		}
		s.setHook(func(w http.ResponseWriter, r *http.Request, _ map[string]any) bool {
			if r.Method == "PUT" {
				refuse(w, 503, "LEAF_NOT_READY")
			}
			return r.Method == "PUT"
		})
		clock.Store(c.Snapshot().Window.Until - 3)
		at.Store(reads.Load() + 1)
		for range 100 {
			id, err := c.Snowflake()
			if err != nil {
				continue
			}
			window, parts := c.Snapshot().Window, must(c.Decode(id))(t)
			if parts.Timestamp < window.From || parts.Timestamp > window.Until {
				t.Fatalf("%d is not from %d to %d", parts.Timestamp, window.From, window.Until)
			}
		}
	}
}

func TestNoIDBeforeTheWindowBegins(t *testing.T) {
	clock := newClock()
	s := newServer(t)
	s.now = func() int64 { return clock.Load() + 50 }
	c := newClient(t, Options{Clock: clock.Load}, s)
	c.Snowflake()
	eventually(t, "a worker ID", func() bool { return c.Snapshot().Window.Held })
	_, err := c.Snowflake()
	wantCode(t, err, CodeNotReady)
	clock.Add(50)
	if at := must(c.Decode(must(c.Snowflake())(t)))(t).Timestamp; at != clock.Load() {
		t.Fatalf("got %d", at)
	}
}

func TestTheWindowIsExtendedAtItsHalf(t *testing.T) {
	if testing.Short() {
		t.Skip("takes 6 s")
	}
	s := newServer(t)
	from := time.Now()
	c := newClient(t, Options{Preload: Preload{Snowflake: true}, Snowflake: SnowflakeOptions{Window: 10 * time.Second}}, s)
	if err := c.Ready(bg); err != nil {
		t.Fatal(err)
	}
	until := c.Snapshot().Window.Until
	for c.Snapshot().Window.Until == until && time.Since(from) < 8*time.Second {
		time.Sleep(5 * time.Millisecond)
	}
	if took := time.Since(from); took < 4500*time.Millisecond || took > 7*time.Second {
		t.Fatalf("extended after %v", took)
	}
	put := s.requests("PUT")[0].body
	if put["known"] != float64(until) || put["workerId"] != float64(17) || put["mark"] == nil || put["windowMs"] != float64(10_000) {
		t.Fatalf("body %v", put)
	}
}

func TestATryIsRepeatedWithTheSameLeaseAndMark(t *testing.T) {
	s := newServer(t)
	var n atomic.Int64
	s.setHook(func(w http.ResponseWriter, r *http.Request, _ map[string]any) bool {
		if n.Add(1)%3 != 0 {
			hangUp(w)
			return true
		}
		return false
	})
	c := newClient(t, Options{}, s)
	must(c.Snowflakes(bg, 1))(t)
	lease := c.window.lease
	first := must(c.window.attempt(lease.acquire, isPassing, time.Millisecond, time.Millisecond))(t)
	again := func() (*windowAnswer, error) { return lease.extend(first) }
	must(c.window.attempt(again, isPassing, time.Millisecond, time.Millisecond))(t)
	posts, puts := s.requests("POST"), s.requests("PUT")
	for _, r := range append(posts, puts...) {
		if r.lease != posts[0].lease {
			t.Fatal("another lease")
		}
	}
	for _, r := range puts {
		if r.body["mark"] != puts[0].body["mark"] {
			t.Fatal("another mark")
		}
	}
	if len(posts) < 3 || len(puts) < 2 || len(posts[0].lease) != 32 {
		t.Fatalf("%d POST, lease of %d digits", len(posts), len(posts[0].lease))
	}
}

func TestAServerOfAnEarlierVersionGetsNoMark(t *testing.T) {
	c, s, _ := held(t, Options{})
	s.setHook(func(w http.ResponseWriter, r *http.Request, body map[string]any) bool {
		if body["known"] == nil {
			return false
		}
		refuse(w, 400, "LEAF_BODY_INVALID")
		return true
	})
	if err := c.Close(bg); err != nil {
		t.Fatal(err)
	}
	deletes := s.requests("DELETE")
	if len(deletes) != 2 || deletes[1].body["known"] != nil || deletes[1].body["lastTimestamp"] == nil {
		t.Fatalf("%v", deletes)
	}
}

func TestAfter409TheOldWorkerEndsAtOnce(t *testing.T) {
	c, s, clock := held(t, Options{Snowflake: SnowflakeOptions{Window: 10 * time.Second}})
	before := must(c.Decode(must(c.Snowflake())(t)))(t)
	old := c.window.term.Load()
	s.setHook(loseWindows)
	extend(c)
	time.Sleep(1100 * time.Millisecond) // a tenth of the window, before which no extension is sent
	clock.Add(1)
	c.Snowflake()
	eventually(t, "the loss", func() bool { return c.window.term.Load() != old })
	if _, _, _, why := old.claim(clock.Load, 1); why != ended {
		t.Fatal("a call that was under way got an ID of the old worker")
	}
	// The clock is set back: the next worker must not go below the newest timestamp.
	clock.Store(before.Timestamp - 3)
	s.setHook(nil)
	eventually(t, "another worker ID", func() bool { return c.Snapshot().Window.Held })
	if leases := s.requests("POST"); leases[0].lease == leases[1].lease {
		t.Fatal("the same lease")
	}
	if id, err := c.Snowflake(); err == nil {
		t.Fatalf("got %d below the newest timestamp", id)
	}
	clock.Store(before.Timestamp + 1000)
	after := must(c.Decode(must(c.Snowflake())(t)))(t)
	if after.WorkerID == before.WorkerID || after.Timestamp <= before.Timestamp {
		t.Fatalf("%+v after %+v", after, before)
	}
}

func TestALayoutChangeIsFinal(t *testing.T) {
	layout := DefaultLayout()
	layout.SequenceBits, layout.WorkerBits = 10, 12
	s := newServer(t)
	c := newClient(t, Options{Layout: &layout}, s)
	_, err := c.Snowflakes(bg, 1)
	wantCode(t, err, CodeLayoutMismatch)
	time.Sleep(refusalKept)
	_, err = c.Snowflake()
	wantCode(t, err, CodeLayoutMismatch)
	if n := len(s.requests("POST")); n != 1 {
		t.Fatalf("%d requests", n)
	}
}

func TestARefusedWorkerIDIsAskedForAgain(t *testing.T) {
	s := newServer(t)
	s.setHook(func(w http.ResponseWriter, r *http.Request, _ map[string]any) bool {
		refuse(w, 409, "LEAF_WORKERS_USED_UP")
		return true
	})
	c := newClient(t, Options{}, s)
	_, err := c.Snowflakes(bg, 1)
	wantCode(t, err, "LEAF_WORKERS_USED_UP")
	s.setHook(nil)
	eventually(t, "a worker ID", func() bool { _, err := c.Snowflakes(bg, 1); return err == nil })
}

func TestTheOtherServersAreAskedWhenOneHasNoWorkerIDLeft(t *testing.T) {
	full, s := newServer(t), newServer(t)
	full.setHook(func(w http.ResponseWriter, r *http.Request, _ map[string]any) bool {
		refuse(w, 409, "LEAF_WORKERS_USED_UP")
		return true
	})
	// The server without worker IDs is asked first.
	servers := []Server{{URL: full.URL, Zone: "near"}, {URL: s.URL, Zone: "far"}}
	c := newClient(t, Options{Servers: servers, Zone: "near"})
	must(c.Snowflakes(bg, 1))(t)
	refused, got := full.requests("POST"), s.requests("POST")
	if len(refused) != 1 || len(got) != 1 || refused[0].lease != got[0].lease {
		t.Fatalf("%v, then %v", refused, got)
	}
}

func TestCloseReleasesWithTheNewestTimestamp(t *testing.T) {
	for _, issues := range []bool{true, false} {
		c, s, clock := held(t, Options{})
		from := c.Snapshot().Window.From
		want := from - 1
		if issues {
			want = clock.Add(40)
			must(c.Snowflake())(t)
			clock.Add(40)
		}
		if err := c.Close(bg); err != nil {
			t.Fatal(err)
		}
		deletes := s.requests("DELETE")
		if len(deletes) != 1 || deletes[0].body["lastTimestamp"] != float64(want) {
			t.Fatalf("%v, want %d", deletes, want)
		}
	}
}

func TestCloseReportsThatTheWorkerIDStaysReserved(t *testing.T) {
	c, s, _ := held(t, Options{Timeout: time.Second})
	s.setHook(func(w http.ResponseWriter, r *http.Request, _ map[string]any) bool { hangUp(w); return true })
	wantCode(t, c.Close(bg), CodeServersUnavailable)
}

func TestConcurrentSnowflakesAreUniqueWhileWorkersChange(t *testing.T) {
	s := newServer(t)
	c := newClient(t, Options{Preload: Preload{Snowflake: true}, Snowflake: SnowflakeOptions{Window: 10 * time.Second}}, s)
	if err := c.Ready(bg); err != nil {
		t.Fatal(err)
	}
	s.setHook(loseWindows)
	var u unique
	var wg sync.WaitGroup
	end := time.Now().Add(3500 * time.Millisecond)
	for range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			var own []int64
			for i := 0; time.Now().Before(end); i++ {
				if i%100 == 0 {
					extend(c)
				}
				id, err := c.Snowflake()
				if err != nil {
					time.Sleep(time.Millisecond)
					continue
				}
				if len(own) > 0 && id <= own[len(own)-1] && id>>22 < own[len(own)-1]>>22 {
					t.Errorf("%d after %d", id, own[len(own)-1])
				}
				own = append(own, id)
				if i%50 == 0 {
					time.Sleep(100 * time.Microsecond)
				}
			}
			u.add(t, own...)
		}()
	}
	wg.Wait()
	if n := len(s.requests("POST")); n < 2 {
		t.Fatalf("%d workers", n)
	}
}

func TestDecode(t *testing.T) {
	c := newClient(t, Options{}, newServer(t))
	got := must(c.Decode(2124416881786949632))(t)
	if got != (Parts{1795335429032, 17, 0}) {
		t.Fatalf("got %+v", got)
	}
	_, err := c.Decode(-1)
	wantCode(t, err, CodeIDInvalid)
}

func TestSnowflakeAllocatesNothing(t *testing.T) {
	c := windowedClient(t, func() int64 { return time.Now().UnixMilli() })
	if n := testing.AllocsPerRun(1000, func() { c.Snowflake() }); n != 0 {
		t.Fatalf("%f allocations", n)
	}
}

func TestTheLeaseIsInNoErrorAndNoLog(t *testing.T) {
	var log lockedBuffer
	c, s, _ := held(t, Options{Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	s.setHook(func(w http.ResponseWriter, r *http.Request, _ map[string]any) bool { hangUp(w); return true })
	ctx, cancel := context.WithTimeout(bg, time.Second)
	defer cancel()
	err := c.Close(ctx)
	for _, text := range []string{log.String(), fmt.Sprint(err), fmt.Sprint(c.Snapshot().Servers[0].LastError)} {
		if text == "<nil>" || strings.Contains(text, c.window.lease.id) {
			t.Errorf("the lease is in: %s", text)
		}
	}
}

// lockedBuffer is a buffer for a log.
type lockedBuffer struct {
	mu sync.Mutex
	strings.Builder
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Builder.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Builder.String()
}

func TestTheWindowDoesNotWaitForRequestsForIDs(t *testing.T) {
	s := newServer(t)
	c := newClient(t, Options{MaxRequests: 1}, s)
	s.setHook(func(w http.ResponseWriter, r *http.Request, _ map[string]any) bool {
		if strings.HasPrefix(r.URL.Path, "/api/workers") {
			return false
		}
		<-r.Context().Done()
		return true
	})
	go c.Next(bg, "order")
	eventually(t, "a request", func() bool { return len(c.slots) == 1 })
	ctx, cancel := context.WithTimeout(bg, time.Second)
	defer cancel()
	must(c.Snowflakes(ctx, 1))(t)
}

func TestAGoroutineThatWasSuspendedAfterItReadTheClockGetsAnID(t *testing.T) {
	clock, s := newClock(), newServer(t)
	s.now = clock.Load
	var suspended atomic.Pointer[func()]
	c := newClient(t, Options{Preload: Preload{Snowflake: true}, Clock: func() int64 {
		now := clock.Load()
		if meanwhile := suspended.Swap(nil); meanwhile != nil {
			(*meanwhile)()
		}
		return now
	}}, s)
	if err := c.Ready(bg); err != nil {
		t.Fatal(err)
	}
	must(c.Snowflake())(t)
	clock.Add(1)
	var ids []int64
	another := func() {
		clock.Add(10)
		ids = append(ids, must(c.Snowflake())(t))
	}
	suspended.Store(&another)
	if ids = append(ids, must(c.Snowflake())(t)); ids[0] >= ids[1] {
		t.Fatalf("got %v", ids)
	}
}
