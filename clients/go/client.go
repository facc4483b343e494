// Package leaf takes unique 64-bit IDs from Leaf servers over HTTP. IDs of tags are prefetched, and snowflake IDs are
// issued in this process under a worker ID of the servers: a call normally needs no request, and calls succeed during
// an outage while buffered IDs, or the worker window, last. No ID is issued twice, whatever fails.
package leaf

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// maxTags is the number of tags above which those without IDs are forgotten.
const maxTags = 10_000

// Client takes IDs from Leaf servers. All methods may be called at the same time. Close it when it is no longer needed.
type Client struct {
	options Options
	http    *http.Client
	own     *http.Transport
	pool    *pool
	slots   chan struct{}
	waiting atomic.Int64
	window  *window

	// closing ends the background work, live the requests.
	closing, live                    context.Context
	cancelBackground, cancelRequests context.CancelFunc
	wg                               sync.WaitGroup
	startMu                          sync.Mutex
	closed                           bool
	closeErr                         error
	closeDone                        chan struct{}

	// known has all tags; read a copy that is read without a lock, and renewed after some misses.
	tagsMu sync.Mutex
	known  map[string]*tag
	misses int
	read   atomic.Pointer[map[string]*tag]

	periodsMu sync.Mutex
	periods   map[string]*periodTag
}

// New creates a client. It sends no request. It fails with LEAF_CONFIG_INVALID, which lists all faults of the options.
func New(options Options) (*Client, error) {
	if err := options.resolve(); err != nil {
		return nil, err
	}
	c := &Client{options: options, pool: newPool(&options), slots: make(chan struct{}, options.MaxRequests),
		known: map[string]*tag{}, periods: map[string]*periodTag{}, closeDone: make(chan struct{})}
	transport := options.Transport
	if transport == nil {
		c.own = newTransport(options.MaxRequests)
		transport = c.own
	}
	c.http = &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	c.closing, c.cancelBackground = context.WithCancel(context.Background())
	c.live, c.cancelRequests = context.WithCancel(context.Background())
	c.read.Store(&map[string]*tag{})
	c.window = newWindow(c)
	return c, nil
}

// Ready waits until the IDs of Options.Preload can be issued: until IDs of each tag are buffered, and the window of the
// worker ID has begun.
func (c *Client) Ready(ctx context.Context) error {
	call, cancel := context.WithTimeout(ctx, c.options.Timeout)
	defer cancel()
	for _, name := range c.options.Preload.Tags {
		t, err := c.open(name)
		if err == nil && t.strict.Load() == nil {
			_, err = t.wait(ctx, call, 0)
		}
		if err != nil {
			return err
		}
	}
	if c.options.Preload.Snowflake {
		_, err := c.takeSnowflakes(ctx, call, 0)
		return err
	}
	return nil
}

// Next returns the next ID of a tag. While IDs are buffered it sends no request, takes no lock, and does not look at
// ctx. Otherwise it waits for Options.Timeout at most. Errors: the refusal of the servers, LEAF_SERVERS_UNAVAILABLE,
// LEAF_OVERLOADED, LEAF_TAG_INVALID; LEAF_NOT_READY after Close.
func (c *Client) Next(ctx context.Context, tag string) (int64, error) {
	if t := (*c.read.Load())[tag]; t != nil {
		if id, ok := t.try(); ok {
			return id, nil
		}
	}
	t, err := c.open(tag)
	if err != nil {
		return 0, err
	}
	spans, err := t.next(ctx, 1)
	if err != nil {
		return 0, err
	}
	return spans[0].from, nil
}

// NextN returns n IDs of a tag in ascending order, 1 to 10,000. Errors as of Next, and LEAF_SIZE_INVALID.
func (c *Client) NextN(ctx context.Context, tag string, n int) ([]int64, error) {
	if err := checkCount(n); err != nil {
		return nil, err
	}
	t, err := c.open(tag)
	if err != nil {
		return nil, err
	}
	spans, err := t.next(ctx, int64(n))
	if err != nil {
		return nil, err
	}
	return idsOf(spans, n), nil
}

// TryNext returns the next ID of a tag if one is buffered, and never waits. It is always false for a strict tag, and
// for a tag that was neither preloaded nor used before.
func (c *Client) TryNext(tag string) (int64, bool) {
	t := (*c.read.Load())[tag]
	if t == nil {
		c.tagsMu.Lock()
		t = c.known[tag]
		c.tagsMu.Unlock()
		if t == nil {
			return 0, false
		}
	}
	if id, ok := t.try(); ok {
		return id, true
	}
	if t.strict.Load() != nil {
		return 0, false
	}
	return t.tryNext()
}

// Decode returns the fields of a snowflake ID: by the layout of the worker window if there is one, or else by
// Options.Layout. It fails with LEAF_ID_INVALID if id does not fit the layout.
func (c *Client) Decode(id int64) (Parts, error) {
	c.window.mu.Lock()
	layout := c.window.layout
	c.window.mu.Unlock()
	if layout == nil {
		return DefaultLayout().decode(id)
	}
	return layout.decode(id)
}

// Close fails all calls, including waiting ones, releases the worker ID, and ends all goroutines of the client. It
// returns an error if no server confirmed the release within ctx and Options.Timeout: the worker ID then stays reserved
// until the end of its window. Later calls wait for the first one, and return its error.
func (c *Client) Close(ctx context.Context) error {
	c.startMu.Lock()
	isFirst := !c.closed
	c.closed = true
	c.startMu.Unlock()
	if !isFirst {
		<-c.closeDone
		return c.closeErr
	}
	reason := closedError()
	c.tagsMu.Lock()
	for _, t := range c.known {
		t.close(reason)
	}
	c.tagsMu.Unlock()
	c.window.close(reason)
	c.cancelBackground()
	ctx, cancel := context.WithTimeout(ctx, c.options.Timeout)
	c.closeErr = c.window.release(ctx)
	cancel()
	c.cancelRequests()
	c.wg.Wait()
	if c.own != nil {
		c.own.CloseIdleConnections()
	}
	close(c.closeDone)
	return c.closeErr
}

// start runs f in the background; false after Close.
func (c *Client) start(f func()) bool {
	c.startMu.Lock()
	defer c.startMu.Unlock()
	if c.closed {
		return false
	}
	c.wg.Add(1)
	go func() {
		defer c.wg.Done()
		f()
	}()
	return true
}

func (c *Client) isClosed() bool {
	c.startMu.Lock()
	defer c.startMu.Unlock()
	return c.closed
}

// open returns the buffer of a tag.
func (c *Client) open(name string) (*tag, error) {
	if t := (*c.read.Load())[name]; t != nil {
		return t, nil
	}
	if err := checkTag(name); err != nil {
		return nil, err
	}
	c.tagsMu.Lock()
	defer c.tagsMu.Unlock()
	t := c.known[name]
	if t == nil {
		if c.isClosed() {
			return nil, closedError()
		}
		if len(c.known) >= maxTags {
			for name, t := range c.known {
				if t.isIdle() {
					delete(c.known, name)
					c.misses = maxTags
				}
			}
		}
		t = newTag(c, name)
		c.known[name] = t
	}
	// Copying the map after each miss would take quadratic time for many tags.
	if c.misses++; c.misses*16 >= len(c.known) {
		read := make(map[string]*tag, len(c.known))
		for name, t := range c.known {
			read[name] = t
		}
		c.read.Store(&read)
		c.misses = 0
	}
	return t, nil
}

// enter takes a place of a waiting call; call leave afterwards.
func (c *Client) enter() error {
	if c.waiting.Add(1) > int64(c.options.MaxWaiting) {
		c.waiting.Add(-1)
		return newError(CodeOverloaded, "%d calls are already waiting for IDs in this client. Retry later, or raise MaxWaiting.", c.options.MaxWaiting).retryAfter(time.Second)
	}
	return nil
}

func (c *Client) leave() { c.waiting.Add(-1) }

func checkCount(n int) error {
	if n >= 1 && n <= maxBatch {
		return nil
	}
	return newError(CodeSizeInvalid, "The size must be from 1 to %s.", strconv.Itoa(maxBatch))
}
