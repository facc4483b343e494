package leaf

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Code is an error code of Leaf. docs/errors.md of the repository explains each one.
type Code string

// The codes that this client creates itself, and those that applications handle most often.
const (
	CodeClockBackwards     Code = "LEAF_CLOCK_BACKWARDS"
	CodeConfigInvalid      Code = "LEAF_CONFIG_INVALID"
	CodeEpochExhausted     Code = "LEAF_EPOCH_EXHAUSTED"
	CodeIDInvalid          Code = "LEAF_ID_INVALID"
	CodeInternal           Code = "LEAF_INTERNAL"
	CodeLayoutMismatch     Code = "LEAF_LAYOUT_MISMATCH"
	CodeLeaseExpired       Code = "LEAF_LEASE_EXPIRED"
	CodeLeaseLost          Code = "LEAF_LEASE_LOST"
	CodeLeaseNotFound      Code = "LEAF_LEASE_NOT_FOUND"
	CodeNotReady           Code = "LEAF_NOT_READY"
	CodeOverloaded         Code = "LEAF_OVERLOADED"
	CodePeriodInvalid      Code = "LEAF_PERIOD_INVALID"
	CodeRequestInvalid     Code = "LEAF_REQUEST_INVALID"
	CodeServersUnavailable Code = "LEAF_SERVERS_UNAVAILABLE"
	CodeSizeInvalid        Code = "LEAF_SIZE_INVALID"
	CodeTagExhausted       Code = "LEAF_TAG_EXHAUSTED"
	CodeTagInvalid         Code = "LEAF_TAG_INVALID"
	CodeTagNotFound        Code = "LEAF_TAG_NOT_FOUND"
	CodeUnauthorized       Code = "LEAF_UNAUTHORIZED"

	codeBodyInvalid    Code = "LEAF_BODY_INVALID"
	codeNotFound       Code = "LEAF_NOT_FOUND"
	codeRequestTimeout Code = "LEAF_REQUEST_TIMEOUT"
	codeWorkersUsedUp  Code = "LEAF_WORKERS_USED_UP"
)

// Codes that a server can return, without the prefix LEAF_.
const knownCodes = " TAG_INVALID SIZE_INVALID ID_INVALID BODY_INVALID REQUEST_INVALID PERIOD_INVALID UNAUTHORIZED " +
	"FORBIDDEN WINDOWS_DISABLED TAG_NOT_FOUND CLIENT_NOT_FOUND NUMBER_NOT_FOUND LEASE_NOT_FOUND NOT_FOUND " +
	"METHOD_NOT_ALLOWED TAG_EXISTS MAX_ID_BACKWARDS TAG_PERIODIC TAG_NOT_PERIODIC TAG_GAPLESS TAG_NOT_GAPLESS " +
	"NUMBER_EXISTS NUMBER_SETTLED REQUEST_TIMEOUT BODY_TOO_LARGE URL_TOO_LONG MEDIA_TYPE_UNSUPPORTED " +
	"TOO_MANY_FAILURES QUOTA_EXCEEDED HEADERS_TOO_LARGE INTERNAL ID_TOO_LARGE SEGMENT_DISABLED SNOWFLAKE_DISABLED " +
	"NOT_READY OVERLOADED SEGMENT_UNAVAILABLE STORE_UNAVAILABLE STORE_BACKWARDS TAG_PAUSED TAG_EXHAUSTED " +
	"NUMBERS_HISTORY_LOST TAG_ROW_INVALID CLOCK_BACKWARDS LEASE_EXPIRED LEASE_LOST EPOCH_EXHAUSTED " +
	"REGISTRY_UNREACHABLE SERVERS_UNAVAILABLE CONFIG_INVALID LAYOUT_INVALID LAYOUT_MISMATCH REGISTRY_MISMATCH " +
	"CLOCK_BEHIND WORKER_HELD WORKERS_USED_UP CLOCK_OFFSET WORKER_UNASSIGNED WORKER_FILE_INVALID DATABASE_UNUSABLE " +
	"DATA_DIR_UNUSABLE PORT_UNUSABLE "

const retryableCodes = " QUOTA_EXCEEDED NOT_READY OVERLOADED SEGMENT_UNAVAILABLE STORE_UNAVAILABLE STORE_BACKWARDS " +
	"CLOCK_BACKWARDS LEASE_EXPIRED REGISTRY_UNREACHABLE SERVERS_UNAVAILABLE "

// Error is the only error type that this package returns.
type Error struct {
	Code Code
	// Message says what happened and what to do next.
	Message string
	// RetryAfter is how long to wait before a retry; 0 if unknown.
	RetryAfter time.Duration

	// status is that of the response, 0 for an error of the client itself.
	status int
	cause  error
}

func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }

// Unwrap returns the underlying error: for a call whose context ended, the error of the context.
func (e *Error) Unwrap() error { return e.cause }

// Retryable reports whether the same call may succeed later without a change to a setting or a row.
func (e *Error) Retryable() bool { return contains(retryableCodes, e.Code) }

// CodeOf returns the code of the first *Error in the chain of err, or "" if there is none.
func CodeOf(err error) Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

func contains(codes string, code Code) bool {
	name, ok := strings.CutPrefix(string(code), "LEAF_")
	return ok && strings.Contains(codes, " "+name+" ")
}

func newError(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

func (e *Error) retryAfter(d time.Duration) *Error {
	e.RetryAfter = d
	return e
}

// isFinal reports whether every other server would return the same refusal.
func (e *Error) isFinal() bool {
	switch e.Code {
	case codeNotFound, codeRequestTimeout, codeWorkersUsedUp:
		// Another server may have another range of worker IDs.
		return false
	}
	return e.status < 500 && e.status != 429
}

// fault is a failure of a server: no response, or an invalid one.
type fault struct {
	message string
	// retryAfter is that of the response; -1 without one.
	retryAfter time.Duration
	cause      error
}

func (f *fault) Error() string { return f.message }
func (f *fault) Unwrap() error { return f.cause }

func newFault(format string, args ...any) *fault {
	return &fault{message: fmt.Sprintf(format, args...), retryAfter: -1}
}

// isPassing reports whether a retry by the client may succeed.
func isPassing(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Retryable()
}

// late is the error of a call that got no IDs in time: the last refusal of the servers, if any.
func (c *Client) late(ctx context.Context, what string, last error) error {
	if ctx.Err() != nil {
		e := newError(CodeServersUnavailable, "The context of the call ended before a Leaf server returned IDs of %s.", what)
		e.cause = context.Cause(ctx)
		return e.retryAfter(time.Second)
	}
	var refusal *Error
	if errors.As(last, &refusal) {
		return refusal
	}
	e := newError(CodeServersUnavailable,
		"No Leaf server returned IDs of %s within %s (Timeout). The client retries by itself; check that the servers are up and reachable.",
		what, c.options.Timeout)
	e.cause = last
	return e.retryAfter(time.Second)
}

func closedError() *Error {
	return newError(CodeNotReady, "This Leaf client is closed. Create another one to get IDs.")
}
