package leaf

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"time"
)

// Server is the address of a Leaf server.
type Server struct {
	// URL is the base URL of the routes: http://10.0.0.5:8080, or https://ids.example.org/leaf behind a proxy.
	URL string
	// Zone is optional; see Options.Zone.
	Zone string
}

// Options of a client. Only Servers is required; the zero value of each other field means its default.
type Options struct {
	Servers []Server
	// Zone of this application. Servers of other zones are used only if none of these can serve.
	Zone string
	// Token of LEAF_CLIENT_TOKENS; none by default.
	Token string
	// Timeout is the maximum duration of a call; 5 s by default. The context of a call can end it earlier.
	Timeout time.Duration
	// RequestTimeout is the maximum duration of one request to one server; 1.5 s by default. It must exceed
	// LEAF_SEGMENT_WAIT_MS of the servers (1 s).
	RequestTimeout time.Duration
	// MaxRequests is the maximum number of concurrent requests for IDs, 1 to 10,000; 32 by default.
	MaxRequests int
	// MaxWaiting is the maximum number of waiting calls, 1 to 1,000,000; 10,000 by default. Others fail with
	// LEAF_OVERLOADED.
	MaxWaiting int
	Segment    SegmentOptions
	Ejection   EjectionOptions
	Snowflake  SnowflakeOptions
	// Preload says what Ready waits for.
	Preload Preload
	// Layout is the one of the servers, for Decode; the default layout if nil. If it is set, a worker window with
	// another one is refused with LEAF_LAYOUT_MISMATCH.
	Layout *Layout
	// Clock returns the wall clock in Unix milliseconds; that of the host by default. Timers always use the monotonic
	// clock of the host.
	Clock func() int64
	// Transport sends the requests: for a private CA or a proxy. The client has its own by default.
	Transport http.RoundTripper
	// Logger receives the events; slog.Default() if nil.
	Logger *slog.Logger
}

// SegmentOptions are those of the prefetch of each tag.
type SegmentOptions struct {
	// MinSize is the size of the first two requests, and the minimum, 1 to 1,000,000; 100 by default.
	MinSize int
	// MaxSize is the maximum size of a prefetch request, 1 to 1,000,000; 1,000,000 by default.
	MaxSize int
	// Duration is how long the IDs of one request should last; 10 s by default.
	Duration time.Duration
}

// EjectionOptions say when a failing server gets no requests.
type EjectionOptions struct {
	// Failures in a row that eject a server, 1 to 1000; 2 by default.
	Failures int
	// First is the duration of the first ejection, which doubles each time up to Max; 250 ms and 10 s by default.
	First, Max time.Duration
}

// SnowflakeOptions are those of the worker window.
type SnowflakeOptions struct {
	// Window is how long IDs can be issued without an answer of a server, and a crash leaves the worker ID reserved:
	// 10 s to 24 h; 60 s by default.
	Window time.Duration
	// Holder is the name of the process for people, 1 to 127 printable characters; the host name by default.
	Holder string
	// Token of LEAF_WORKER_TOKENS; Options.Token by default.
	Token string
}

// Preload says what Ready waits for.
type Preload struct {
	Tags      []string
	Snowflake bool
}

var (
	tagPattern    = regexp.MustCompile(`^[A-Za-z0-9._:-]{1,128}$`)
	tokenPattern  = regexp.MustCompile(`^[A-Za-z0-9._~+/-]+=*$`)
	holderPattern = regexp.MustCompile(`^\PC{1,127}$`)
)

func checkTag(tag string) error {
	if tagPattern.MatchString(tag) && tag != "." && tag != ".." {
		return nil
	}
	return newError(CodeTagInvalid, "%.40q is not a valid tag; use 1 to 128 letters, digits, \"-\", \"_\", \".\" or \":\", but not \".\" or \"..\".", tag)
}

type number interface{ ~int | ~int64 }

func or[T comparable](value *T, standard T) {
	var zero T
	if *value == zero {
		*value = standard
	}
}

// resolve sets the defaults, and fails with LEAF_CONFIG_INVALID that lists all faults.
func (o *Options) resolve() error {
	var faults []string
	fail := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	o.Servers = append([]Server(nil), o.Servers...)
	if len(o.Servers) == 0 {
		fail("Servers must contain at least one server")
	}
	seen := map[string]bool{}
	for i := range o.Servers {
		u, err := url.Parse(o.Servers[i].URL)
		switch {
		case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
			fail("Servers[%d].URL must be an http or https URL", i)
		case u.User != nil || u.RawQuery != "" || u.Fragment != "":
			fail("Servers[%d].URL (%s) must have no user, password, query or fragment", i, u.Host)
		default:
			o.Servers[i].URL = strings.TrimRight(u.String(), "/")
			if seen[o.Servers[i].URL] {
				fail("Servers must contain each server only once")
			}
			seen[o.Servers[i].URL] = true
		}
	}
	or(&o.Timeout, 5*time.Second)
	or(&o.RequestTimeout, 1500*time.Millisecond)
	or(&o.MaxRequests, 32)
	or(&o.MaxWaiting, 10_000)
	or(&o.Segment.MinSize, 100)
	or(&o.Segment.MaxSize, maxRange)
	or(&o.Segment.Duration, 10*time.Second)
	or(&o.Ejection.Failures, 2)
	or(&o.Ejection.First, 250*time.Millisecond)
	or(&o.Ejection.Max, 10*time.Second)
	or(&o.Snowflake.Window, time.Minute)
	or(&o.Snowflake.Token, o.Token)
	if o.Snowflake.Holder == "" {
		o.Snowflake.Holder, _ = os.Hostname()
		or(&o.Snowflake.Holder, "leaf-client")
	}
	within(fail, "Timeout", o.Timeout, time.Millisecond, 1<<31*time.Millisecond)
	within(fail, "RequestTimeout", o.RequestTimeout, time.Millisecond, 1<<31*time.Millisecond)
	within(fail, "MaxRequests", o.MaxRequests, 1, 10_000)
	within(fail, "MaxWaiting", o.MaxWaiting, 1, 1_000_000)
	within(fail, "Segment.MinSize", o.Segment.MinSize, 1, maxRange)
	within(fail, "Segment.MaxSize", o.Segment.MaxSize, o.Segment.MinSize, maxRange)
	within(fail, "Segment.Duration", o.Segment.Duration, time.Millisecond, 1<<31*time.Millisecond)
	within(fail, "Ejection.Failures", o.Ejection.Failures, 1, 1000)
	within(fail, "Ejection.First", o.Ejection.First, time.Millisecond, 1<<31*time.Millisecond)
	within(fail, "Ejection.Max", o.Ejection.Max, o.Ejection.First, 1<<31*time.Millisecond)
	within(fail, "Snowflake.Window", o.Snowflake.Window, 10*time.Second, 24*time.Hour)
	if !holderPattern.MatchString(o.Snowflake.Holder) {
		fail("Snowflake.Holder must be 1 to 127 printable characters")
	}
	for name, token := range map[string]string{"Token": o.Token, "Snowflake.Token": o.Snowflake.Token} {
		if token != "" && !tokenPattern.MatchString(token) {
			fail("%s contains characters that a header cannot carry", name)
		}
	}
	for i, tag := range o.Preload.Tags {
		if checkTag(tag) != nil {
			fail("Preload.Tags[%d] is not a valid tag", i)
		}
	}
	if o.Layout != nil && !o.Layout.valid() {
		fail("Layout (%s) is not a valid bit layout", o.Layout)
	}
	if len(faults) > 0 {
		return newError(CodeConfigInvalid, "The options of the Leaf client are invalid:\n  - %s", strings.Join(faults, "\n  - "))
	}
	if o.Clock == nil {
		o.Clock = func() int64 { return time.Now().UnixMilli() }
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	return nil
}

func within[T number](fail func(string, ...any), name string, value, low, high T) {
	if value < low || value > high {
		fail("%s must be from %v to %v, not %v", name, low, high, value)
	}
}
