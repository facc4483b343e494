// Command driver obeys the commands of test/conformance/README.md. It contains no rule of the client.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strconv"
	"sync"
	"syscall"
	"time"

	leaf "github.com/leaf-ids/leaf/clients/go"
)

type options struct {
	Servers          []json.RawMessage
	Zone, Token      string
	TimeoutMs        int64
	RequestTimeoutMs int64
	MaxWaiting       int
	Segment          struct {
		MinSize, MaxSize int
		DurationMs       int64
	}
	Layout    *leaf.Layout
	Snowflake struct {
		WindowMs      int64
		Holder, Token string
	}
}

func ms(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

func (o *options) resolve(clock *clock) (leaf.Options, error) {
	to := leaf.Options{
		Zone: o.Zone, Token: o.Token, Timeout: ms(o.TimeoutMs), RequestTimeout: ms(o.RequestTimeoutMs),
		MaxWaiting: o.MaxWaiting, Layout: o.Layout, Clock: clock.now,
		Preload: leaf.Preload{Snowflake: true},
		Logger:  slog.New(slog.NewTextHandler(os.Stderr, nil)),
	}
	to.Segment = leaf.SegmentOptions{MinSize: o.Segment.MinSize, MaxSize: o.Segment.MaxSize, Duration: ms(o.Segment.DurationMs)}
	to.Snowflake = leaf.SnowflakeOptions{Window: ms(o.Snowflake.WindowMs), Holder: o.Snowflake.Holder, Token: o.Snowflake.Token}
	for _, raw := range o.Servers {
		var server leaf.Server
		if json.Unmarshal(raw, &server.URL) != nil {
			if err := json.Unmarshal(raw, &server); err != nil {
				return to, err
			}
		}
		to.Servers = append(to.Servers, server)
	}
	return to, nil
}

type command struct {
	ID     json.RawMessage
	Op     string
	Tag    string
	Date   string
	Value  string
	What   string
	Count  *int
	Ms     int64
	Limit  int64
	Record *bool
	Step   *struct{ AfterReads, Ms int64 }
}

type answer struct {
	ID json.RawMessage `json:"id"`
	*leaf.Parts
	IDs     []string       `json:"ids,omitempty"`
	Number  string         `json:"number,omitempty"`
	Period  string         `json:"period,omitempty"`
	Count   *int64         `json:"count,omitempty"`
	Ns      int64          `json:"ns,omitempty"`
	Runs    [][2]any       `json:"runs,omitempty"`
	Refused map[string]int `json:"refused,omitempty"`
	Code    string         `json:"code,omitempty"`
	Message string         `json:"message,omitempty"`
}

func (a *answer) fail(err error) {
	if err != nil {
		a.Code, a.Message = codeOf(err), err.Error()
	}
}

func codeOf(err error) string {
	if code := leaf.CodeOf(err); code != "" {
		return string(code)
	}
	return "LEAF_INTERNAL"
}

type driver struct {
	client *leaf.Client
	clock  *clock
	out    sync.Mutex
	exit   sync.Once
	// calls are the commands that have not been answered, without close.
	calls sync.WaitGroup
}

func (d *driver) write(a *answer) {
	line, err := json.Marshal(a)
	if err != nil {
		panic(err)
	}
	d.out.Lock()
	defer d.out.Unlock()
	os.Stdout.Write(append(line, '\n'))
}

func (d *driver) execute(c command) {
	ctx := context.Background()
	a := &answer{ID: c.ID}
	switch c.Op {
	case "next":
		var ids []int64
		var err error
		if c.Count == nil {
			ids = make([]int64, 1)
			ids[0], err = d.client.Next(ctx, c.Tag)
		} else {
			ids, err = d.client.NextN(ctx, c.Tag, *c.Count)
		}
		if a.fail(err); err == nil {
			a.IDs = texts(ids)
		}
	case "period":
		date, err := time.Time{}, error(nil)
		if c.Date != "" {
			if date, err = time.Parse(time.DateOnly, c.Date); err != nil {
				date, err = time.Parse(time.RFC3339, c.Date)
			}
		}
		if err == nil {
			var got leaf.PeriodNumber
			if got, err = d.client.NextInPeriod(ctx, c.Tag, date); err == nil {
				a.Number, a.Period = strconv.FormatInt(got.Number, 10), got.Period
			}
		}
		a.fail(err)
	case "ready":
		a.fail(d.client.Ready(ctx))
	case "snowflake":
		if c.Step != nil {
			d.clock.stepAfter(c.Step.AfterReads, c.Step.Ms)
			defer d.clock.stepAfter(0, 0)
		}
		count := 1
		if c.Count != nil {
			count = *c.Count
		}
		ids := make([]int64, 0, count)
		for len(ids) < count {
			id, err := d.client.Snowflake()
			if a.fail(err); err != nil {
				break
			}
			ids = append(ids, id)
		}
		a.IDs = texts(ids)
	case "decode":
		id, err := strconv.ParseInt(c.Value, 10, 64)
		if err != nil {
			a.Code, a.Message = string(leaf.CodeIDInvalid), err.Error()
			break
		}
		parts, err := d.client.Decode(id)
		if a.fail(err); err == nil {
			a.Parts = &parts
		}
	case "step":
		d.clock.offset.Add(c.Ms)
	case "freeze":
		d.clock.freeze(ms(c.Ms))
	case "run":
		d.run(c, a)
	case "close":
		d.close(a)
		return
	default:
		a.Code, a.Message = "LEAF_INTERNAL", "unknown op "+c.Op
	}
	d.write(a)
}

// run takes IDs in a loop. The host clock ends it; it is read once in so many IDs.
func (d *driver) run(c command, a *answer) {
	ctx := context.Background()
	next := d.client.Snowflake
	if c.What == "segment" {
		next = func() (int64, error) { return d.client.Next(ctx, c.Tag) }
	}
	isRecorded := c.Record == nil || *c.Record
	a.Refused = map[string]int{}
	var count, first, last int64
	started := time.Now()
	end := started.Add(ms(c.Ms))
	for i := 0; c.Limit == 0 || count < c.Limit; i++ {
		if i%64 == 0 && !time.Now().Before(end) {
			break
		}
		id, err := next()
		if err != nil {
			a.Refused[codeOf(err)]++
			time.Sleep(time.Millisecond)
			i = -1
			continue
		}
		count++
		if !isRecorded {
			continue
		}
		if count == 1 || id != last+1 {
			if count > 1 {
				a.Runs = append(a.Runs, [2]any{strconv.FormatInt(first, 10), last - first + 1})
			}
			first = id
		}
		last = id
	}
	a.Ns, a.Count = time.Since(started).Nanoseconds(), &count
	if isRecorded && count > 0 {
		a.Runs = append(a.Runs, [2]any{strconv.FormatInt(first, 10), last - first + 1})
	}
}

// close ends the process.
func (d *driver) close(a *answer) {
	d.exit.Do(func() {
		if err := d.client.Close(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		ended := make(chan struct{})
		go func() {
			d.calls.Wait()
			close(ended)
		}()
		// The calls that the client has refused have answers to write.
		select {
		case <-ended:
		case <-time.After(time.Second):
		}
		if a != nil {
			d.write(a)
		}
		os.Exit(0)
	})
}

func texts(ids []int64) []string {
	all := make([]string, len(ids))
	for i, id := range ids {
		all[i] = strconv.FormatInt(id, 10)
	}
	return all
}

func start() (*driver, error) {
	if len(os.Args) < 2 {
		return nil, errors.New("usage: driver '<options as JSON>'")
	}
	var o options
	if err := json.Unmarshal([]byte(os.Args[len(os.Args)-1]), &o); err != nil {
		return nil, err
	}
	d := &driver{clock: &clock{}}
	to, err := o.resolve(d.clock)
	if err != nil {
		return nil, err
	}
	d.client, err = leaf.New(to)
	return d, err
}

func main() {
	d, err := start()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM)
	go func() {
		<-signals
		d.close(nil)
	}()
	lines := bufio.NewReader(os.Stdin)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 1 {
			var c command
			if err := json.Unmarshal(line, &c); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(2)
			}
			// The clock moves before the next command is read.
			if c.Op == "step" || c.Op == "freeze" {
				d.execute(c)
			} else if c.Op == "close" {
				go d.execute(c)
			} else {
				d.calls.Add(1)
				go func() {
					defer d.calls.Done()
					d.execute(c)
				}()
			}
		}
		if errors.Is(err, io.EOF) {
			d.close(nil)
		} else if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
	}
}
