package leaf

import (
	"context"
	"math/rand/v2"
	"time"
)

// backoff is the wait after so many failures, from 1: random between half and all of the doubled wait.
func backoff(failures int, first, most time.Duration) time.Duration {
	full := min(first, most)
	for i := 1; i < failures && full < most; i++ {
		full = min(2*full, most)
	}
	return full/2 + rand.N(full/2+1)
}

// loadBackoff is the wait between the attempts of a load.
func loadBackoff(failures int) time.Duration {
	return backoff(failures, 25*time.Millisecond, time.Second)
}

// sleep reports whether the time has passed before ctx ended.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
