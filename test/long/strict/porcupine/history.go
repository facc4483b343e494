package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/anishathalye/porcupine"
)

// line is a call in a history. Times are nanoseconds of one monotonic clock.
type line struct {
	Process string `json:"process"`
	Call    *int64 `json:"call"`
	Return  *int64 `json:"return"`
	Tag     string `json:"tag"`
	// Ranges [[from, to], …] in the order of the answer, or "unknown".
	IDs json.RawMessage `json:"ids"`
}

// taken are the numbers of a call, as its answer had them.
type taken []run

// run is from, to.
type run [2]int64

func (t taken) first() int64 { return t[0][0] }
func (t taken) last() int64  { return t[len(t)-1][1] }

// ascends says whether no number is below one before it.
func (t taken) ascends() bool {
	for i, r := range t {
		if r[1] < r[0] || i > 0 && r[0] <= t[i-1][1] {
			return false
		}
	}
	return true
}

type history struct {
	operations []porcupine.Operation
	// Calls that have no answer. Each may have taken numbers that no other call got, which the counter permits.
	unknown int
}

func readFile(name string) (history, error) {
	file, err := os.Open(name)
	if err != nil {
		return history{}, err
	}
	defer file.Close()
	return read(file)
}

// read reads JSON lines. Any line that is not a call is an error: no call remains without a judgement.
func read(from io.Reader) (history, error) {
	var h history
	processes := map[string]int{}
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 1<<24)
	for number := 1; lines.Scan(); number++ {
		var l line
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			return h, fmt.Errorf("line %d: %w", number, err)
		}
		if err := h.add(l, processes); err != nil {
			return h, fmt.Errorf("line %d: %w", number, err)
		}
	}
	if err := lines.Err(); err != nil {
		return h, err
	}
	if len(h.operations) == 0 {
		return h, errors.New("there is no operation to judge")
	}
	return h, nil
}

func (h *history) add(l line, processes map[string]int) error {
	if l.Process == "" || l.Tag == "" || l.Call == nil || l.Return == nil {
		return errors.New("process, call, return and tag are required")
	}
	if *l.Return < *l.Call {
		return fmt.Errorf("the call at %d returned before, at %d", *l.Call, *l.Return)
	}
	if string(l.IDs) == `"unknown"` {
		h.unknown++
		return nil
	}
	var ranges [][]int64
	if err := json.Unmarshal(l.IDs, &ranges); err != nil || len(ranges) == 0 {
		return fmt.Errorf("%s is neither a list of ranges nor \"unknown\"", l.IDs)
	}
	var ids taken
	for _, ends := range ranges {
		if len(ends) != 2 {
			return fmt.Errorf("%v is not a range", ends)
		}
		ids = append(ids, run{ends[0], ends[1]})
	}
	client, known := processes[l.Process]
	if !known {
		client = len(processes)
		processes[l.Process] = client
	}
	h.operations = append(h.operations, porcupine.Operation{
		ClientId: client, Input: input{tag: l.Tag}, Call: *l.Call, Output: ids, Return: *l.Return,
	})
	return nil
}
