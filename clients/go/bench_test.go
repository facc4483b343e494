package leaf

import (
	"context"
	"testing"
	"time"
)

func BenchmarkNext(b *testing.B) {
	c, t := bufferedClient(b, int64(b.N)+1)
	ctx := context.Background()
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		if _, err := c.Next(ctx, t); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSnowflake(b *testing.B) {
	c := windowedClient(b, func() int64 { return time.Now().UnixMilli() })
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		if _, err := c.Snowflake(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSnowflakeCost has a clock without a limit: a new millisecond for every 4096 IDs.
func BenchmarkSnowflakeCost(b *testing.B) {
	now, reads := time.Now().UnixMilli(), 0
	c := windowedClient(b, func() int64 { reads++; return now + int64(reads/3000) + 0*time.Now().UnixMilli() })
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		if _, err := c.Snowflake(); err != nil {
			b.Fatal(err)
		}
	}
}

func bufferedClient(t testing.TB, size int64) (*Client, string) {
	c, err := New(Options{Servers: []Server{{URL: "http://127.0.0.1:1"}}})
	if err != nil {
		t.Fatal(err)
	}
	tag, err := c.open("order")
	if err != nil {
		t.Fatal(err)
	}
	tag.cur.Store(&chunk{base: 1, size: size})
	tag.lowMark = -1
	return c, "order"
}

func windowedClient(t testing.TB, clock func() int64) *Client {
	c, err := New(Options{Servers: []Server{{URL: "http://127.0.0.1:1"}}, Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	layout := DefaultLayout()
	worker, from := int64(17), clock()
	w := newTerm(&windowAnswer{WorkerID: &worker, From: &from, Layout: &layout}, -1, c.window.nudge)
	w.until.Store(from + 1e9)
	w.renewAfter.Store(from + 1e9)
	c.window.term.Store(w)
	return c
}
