package main

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"github.com/anishathalye/porcupine"
)

// call is one line of a history.
func call(from, to int64, ids string) string {
	return fmt.Sprintf(`{"process":"c","call":%d,"return":%d,"tag":"order","ids":%s}`, from, to, ids)
}

func reading(t *testing.T, lines ...string) history {
	t.Helper()
	h, err := read(strings.NewReader(strings.Join(lines, "\n")))
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestVerdicts(t *testing.T) {
	other := strings.ReplaceAll(call(4, 5, "[[1,1]]"), "order", "other")
	for name, c := range map[string]struct {
		lines    []string
		accepted bool
	}{
		"one after the other":                  {[]string{call(0, 1, "[[1,9]]"), call(2, 3, "[[10,10]]")}, true},
		"at the same time, in either order":    {[]string{call(0, 9, "[[2,2]]"), call(1, 8, "[[1,1]]")}, true},
		"started at the moment of an answer":   {[]string{call(0, 5, "[[2,2]]"), call(5, 6, "[[1,1]]")}, true},
		"a gap, and an answer that has a gap":  {[]string{call(0, 1, "[[1,1]]"), call(2, 3, "[[5,6],[9,9]]")}, true},
		"another tag":                          {[]string{call(0, 1, "[[7,7]]"), other}, true},
		"an unknown outcome in a gap":          {[]string{call(0, 1, "[[1,1]]"), call(2, 3, `"unknown"`), call(4, 5, "[[3,3]]")}, true},
		"two operations swapped":               {[]string{call(0, 1, "[[2,2]]"), call(2, 3, "[[1,1]]")}, false},
		"the same number later":                {[]string{call(0, 1, "[[1,1]]"), call(2, 3, "[[1,1]]")}, false},
		"the same number at the same time":     {[]string{call(0, 9, "[[1,1]]"), call(0, 9, "[[1,1]]")}, false},
		"ranges that overlap":                  {[]string{call(0, 9, "[[1,5]]"), call(0, 9, "[[3,9]]")}, false},
		"a range within another":               {[]string{call(0, 9, "[[1,5]]"), call(0, 9, "[[2,3]]"), call(0, 9, "[[6,6]]")}, false},
		"an answer that falls":                 {[]string{call(0, 1, "[[7,7],[3,3]]")}, false},
		"an answer with a number twice":        {[]string{call(0, 1, "[[7,7],[7,8]]")}, false},
		"a range that ends before it begins":   {[]string{call(0, 1, "[[7,6]]")}, false},
		"a low number behind a long operation": {[]string{call(0, 99, "[[3,3]]"), call(1, 2, "[[9,9]]"), call(3, 4, "[[4,4]]")}, false},
	} {
		h := reading(t, c.lines...)
		for _, model := range []porcupine.Model{byTag(), inPieces(1), inPieces(2), inPieces(piece)} {
			if porcupine.CheckOperations(model, h.operations) != c.accepted {
				t.Errorf("%s: accepted must be %v", name, c.accepted)
			}
		}
	}
}

func TestRefusedLines(t *testing.T) {
	for _, text := range []string{
		"",
		"{}",
		"no JSON",
		call(5, 4, "[[1,1]]"),
		call(0, 1, "[]"),
		call(0, 1, "null"),
		call(0, 1, `"other"`),
		call(0, 1, "[[1]]"),
		call(0, 1, "[[1,2,3]]"),
		call(0, 1, `"unknown"`),
		strings.Replace(call(0, 1, "[[1,1]]"), `"return":1,`, "", 1),
	} {
		if _, err := read(strings.NewReader(text)); err == nil {
			t.Errorf("%q was read", text)
		}
	}
}

// In pieces, Porcupine comes to the verdict that it has on the whole history.
func TestPiecesJudgeAsTheWhole(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	verdicts := map[bool]int{}
	for n := 0; n < 20_000; n++ {
		operations := make([]porcupine.Operation, 1+random.Intn(9))
		for i := range operations {
			// Mostly by the order of the starts, so that many of the histories are right.
			start := int64(4*i + random.Intn(8))
			from := int64(3*i + random.Intn(5))
			ids := taken{{from, from + int64(random.Intn(2))}}
			operations[i] = porcupine.Operation{
				Input: input{tag: "order"}, Call: start, Output: ids, Return: start + int64(random.Intn(20)),
			}
		}
		accepted := porcupine.CheckOperations(byTag(), operations)
		verdicts[accepted]++
		for size := 1; size <= 4; size++ {
			if porcupine.CheckOperations(inPieces(size), operations) != accepted {
				t.Fatalf("pieces of %d: accepted must be %v: %v", size, accepted, operations)
			}
		}
	}
	if verdicts[true] < 1000 || verdicts[false] < 1000 {
		t.Errorf("too few of a kind: %v", verdicts)
	}
}

// A violation is found in a long history, wherever it is.
func TestLongHistories(t *testing.T) {
	random := rand.New(rand.NewSource(2))
	const count, callers = 100_000, 400
	operations := make([]porcupine.Operation, count)
	for i := range operations {
		at := int64(10 * i)
		operations[i] = porcupine.Operation{
			Input: input{tag: "order"}, Call: at - int64(random.Intn(10*callers)), Output: taken{{at, at + 7}},
			Return: at + int64(random.Intn(10*callers)),
		}
	}
	if !porcupine.CheckOperations(inPieces(piece), operations) {
		t.Fatal("a right history was refused")
	}
	for _, apart := range []int{2 * callers, 10 * callers, count / 2} {
		wrong := append([]porcupine.Operation(nil), operations...)
		one := random.Intn(count - apart)
		wrong[one].Output, wrong[one+apart].Output = wrong[one+apart].Output, wrong[one].Output
		if porcupine.CheckOperations(inPieces(piece), wrong) {
			t.Errorf("numbers of %d and %d were swapped", one, one+apart)
		}
	}
}
