package leaf

import "fmt"

// Layout is the bit layout of snowflake IDs: a sign bit of 0, then time, worker ID and sequence.
type Layout struct {
	// Epoch is the Unix time in milliseconds at which the time field is 0.
	Epoch int64 `json:"epoch"`
	// TimeBits, WorkerBits and SequenceBits are 31 to 52, 1 to 22 and 1 to 22, at most 63 together.
	TimeBits     int `json:"timeBits"`
	WorkerBits   int `json:"workerBits"`
	SequenceBits int `json:"sequenceBits"`
}

// DefaultLayout is the layout of servers without LEAF_SNOWFLAKE_BITS and LEAF_SNOWFLAKE_EPOCH.
func DefaultLayout() Layout {
	return Layout{Epoch: 1288834974657, TimeBits: 41, WorkerBits: 10, SequenceBits: 12}
}

// Parts are the fields of a snowflake ID.
type Parts struct {
	// Timestamp is in Unix milliseconds.
	Timestamp int64 `json:"timestamp"`
	WorkerID  int64 `json:"workerId"`
	Sequence  int64 `json:"sequence"`
}

const maxSafe = 1<<53 - 1

func (l Layout) valid() bool {
	within := func(bits, low, high int) bool { return bits >= low && bits <= high }
	return within(l.TimeBits, 31, 52) && within(l.WorkerBits, 1, 22) && within(l.SequenceBits, 1, 22) &&
		l.TimeBits+l.WorkerBits+l.SequenceBits <= 63 && (l.Epoch == 0 || l.Epoch >= 32_503_680_000) &&
		l.Epoch <= maxSafe && l.maxTimestamp() <= maxSafe
}

func (l Layout) maxTimestamp() int64 { return l.Epoch + 1<<l.TimeBits - 1 }
func (l Layout) maxWorkerID() int64  { return 1<<l.WorkerBits - 1 }
func (l Layout) maxSequence() int64  { return 1<<l.SequenceBits - 1 }

func (l Layout) String() string {
	return fmt.Sprintf("%d,%d,%d@%d", l.TimeBits, l.WorkerBits, l.SequenceBits, l.Epoch)
}

// decode fails with LEAF_ID_INVALID if id is not one of the layout.
func (l Layout) decode(id int64) (Parts, error) {
	bits := l.TimeBits + l.WorkerBits + l.SequenceBits
	if id < 0 || uint64(id)>>bits != 0 {
		return Parts{}, newError(CodeIDInvalid, "Invalid snowflake ID %d: use a number from 0 to %d.", id, uint64(1)<<bits-1)
	}
	return Parts{
		Timestamp: id>>(l.WorkerBits+l.SequenceBits) + l.Epoch,
		WorkerID:  id >> l.SequenceBits & l.maxWorkerID(),
		Sequence:  id & l.maxSequence(),
	}, nil
}
