package main

import (
	"math"
	"sort"

	"github.com/anishathalye/porcupine"
)

// input is what is known of a call without its answer.
type input struct {
	tag string
	// Only in a piece of a history: the highest number below those of this call that any call got, and whether it is set.
	after    int64
	isPlaced bool
}

// piece is the number of operations that Porcupine searches at a time.
const piece = 256

// counter is a counter that only goes up: the numbers of a call are above all that were given before. Its state is the
// last number. It may skip numbers: calls of unknown outcome, killed servers and failovers take some that nobody gets.
// One history has one tag.
var counter = porcupine.Model{
	Init: func() interface{} { return int64(math.MinInt64) },
	Step: func(state, in, out interface{}) (bool, interface{}) {
		last, ids := state.(int64), out.(taken)
		return ids.ascends() && ids.first() > last, ids.last()
	},
}

// byTag judges each tag for itself, with the whole history of a tag in one search.
func byTag() porcupine.Model {
	model := counter
	model.Partition = tags
	return model
}

// inPieces accepts the same histories as byTag, in linear time. Two reductions make that possible:
//
// A call that was passed over for one with higher numbers can never follow. So the next call can only be the one with the
// next higher numbers: the one whose numbers come after the state. This leaves a single path to search.
//
// Calls in the order of their numbers are cut into pieces. In each piece but the first, one operation stands for all
// calls of the pieces before: it takes up to their highest number, and starts when the latest of them started. A call of
// the piece that had ended by then cannot follow it. If every piece has an order, these orders one after the other are
// one of the whole: the calls before can all take effect by the time when the latest of them started, and those of the
// piece take effect after that.
func inPieces(size int) porcupine.Model {
	model := counter
	step := counter.Step
	model.Step = func(state, in, out interface{}) (bool, interface{}) {
		if placed := in.(input); placed.isPlaced && placed.after != state.(int64) {
			return false, state
		}
		return step(state, in, out)
	}
	model.Partition = func(history []porcupine.Operation) [][]porcupine.Operation {
		var pieces [][]porcupine.Operation
		for _, ofTag := range tags(history) {
			pieces = append(pieces, cut(ofTag, size)...)
		}
		return pieces
	}
	return model
}

func tags(history []porcupine.Operation) [][]porcupine.Operation {
	place := map[string]int{}
	var all [][]porcupine.Operation
	for _, operation := range history {
		tag := operation.Input.(input).tag
		at, known := place[tag]
		if !known {
			at = len(all)
			place[tag] = at
			all = append(all, nil)
		}
		all[at] = append(all[at], operation)
	}
	return all
}

func cut(history []porcupine.Operation, size int) [][]porcupine.Operation {
	ordered := append([]porcupine.Operation(nil), history...)
	sort.SliceStable(ordered, func(i, j int) bool {
		return ordered[i].Output.(taken).first() < ordered[j].Output.(taken).first()
	})
	end := int64(math.MinInt64)
	for _, operation := range ordered {
		end = max(end, operation.Return)
	}
	var pieces [][]porcupine.Operation
	highest, latest := int64(math.MinInt64), int64(math.MinInt64)
	for from := 0; from < len(ordered); from += size {
		var operations []porcupine.Operation
		if from > 0 {
			before := taken{{highest, highest}}
			operations = append(operations, porcupine.Operation{
				Input: input{after: math.MinInt64, isPlaced: true}, Call: latest, Output: before, Return: end,
			})
		}
		for _, operation := range ordered[from:min(from+size, len(ordered))] {
			operation.Input = input{after: highest, isPlaced: true}
			operations = append(operations, operation)
			highest = operation.Output.(taken).last()
			latest = max(latest, operation.Call)
		}
		pieces = append(pieces, operations)
	}
	return pieces
}
