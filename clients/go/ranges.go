package leaf

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
)

const (
	maxBatch = 10_000
	maxRange = 1_000_000
	// recentAnswers is the number of answers that a repeated one is compared with.
	recentAnswers = 32
)

// span has the IDs from from to to, both included.
type span struct{ from, to int64 }

func (s span) size() int64 { return s.to - s.from + 1 }

func idsOf(spans []span, count int) []int64 {
	ids := make([]int64, 0, count)
	for _, s := range spans {
		for i := range s.size() {
			ids = append(ids, s.from+i)
		}
	}
	return ids
}

type rangesAnswer struct {
	Tag    string `json:"tag"`
	Order  string `json:"order"`
	Period string `json:"period"`
	Ranges []struct {
		From string `json:"from"`
		To   string `json:"to"`
	} `json:"ranges"`

	spans []span
}

// readRanges fails with a *fault unless the ranges belong to tag, ascend, and contain count IDs in total.
func readRanges(body []byte, tag string, count int64) (a rangesAnswer, err error) {
	if err := json.Unmarshal(body, &a); err != nil {
		return a, newFault("invalid response: %v", err)
	}
	if a.Tag != tag {
		return a, newFault("invalid response: its ranges do not belong to tag %q", tag)
	}
	total, last := int64(0), int64(0)
	for _, r := range a.Ranges {
		s := span{parseID(r.From), parseID(r.To)}
		if s.from == 0 || s.to == 0 {
			return a, newFault("invalid response: a range lacks a decimal ID")
		}
		if s.from <= last || s.to < s.from {
			return a, newFault("invalid response: its ranges do not ascend")
		}
		if s.to-s.from >= count-total {
			total = count + 1
			break
		}
		total += s.size()
		last = s.to
		a.spans = append(a.spans, s)
	}
	if total != count {
		return a, newFault("invalid response: it does not have %d IDs", count)
	}
	return a, nil
}

// parseID accepts canonical decimals from 1 to 2^63 - 1; 0 for anything else.
func parseID(text string) int64 {
	if text == "" || text[0] < '1' || text[0] > '9' {
		return 0
	}
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0
	}
	return id
}

var periodPattern = regexp.MustCompile(`^\d{4}(-\d{2}(-\d{2})?|-W\d{2}|-Q\d|/\d{2}-\d{2})?$`)

// recent remembers the newest answers of one tag.
type recent []rangesAnswer

// add fails with a *fault if the answer repeats IDs of one of them.
func (r *recent) add(a rangesAnswer) error {
	for _, known := range *r {
		if known.Period == a.Period && overlap(known.spans, a.spans) {
			return newFault("it repeated IDs of tag %q: a proxy caches responses, or the servers do not share one database", a.Tag)
		}
	}
	if len(*r) == recentAnswers {
		*r = slices.Delete(*r, 0, 1)
	}
	*r = append(*r, a)
	return nil
}

// overlap reports whether two ascending lists have an ID in common.
func overlap(a, b []span) bool {
	i := 0
	for _, s := range a {
		for i < len(b) && b[i].to < s.from {
			i++
		}
		if i < len(b) && b[i].from <= s.to {
			return true
		}
	}
	return false
}
