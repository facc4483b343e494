// Command porcupine checks the histories of the strict run with the checker Porcupine:
//
//	npm run strict -- --history history.jsonl
//	go run . history.jsonl
//
// It prints one line for each history. It ends with 1 if a history is not linearizable, with 2 if it cannot be read.
package main

import (
	"fmt"
	"os"
	"time"

	"github.com/anishathalye/porcupine"
)

func main() {
	if len(os.Args) < 2 {
		fail("usage: porcupine <history.jsonl>...")
	}
	refused := false
	for _, name := range os.Args[1:] {
		history, err := readFile(name)
		if err != nil {
			fail(fmt.Sprintf("%s: %v", name, err))
		}
		began := time.Now()
		accepted := porcupine.CheckOperations(inPieces(piece), history.operations)
		seconds := time.Since(began).Seconds()
		verdict := "linearizable"
		if !accepted {
			verdict, refused = "NOT linearizable", true
		}
		judged := len(history.operations)
		fmt.Printf("%s: %s, %d operations judged in %.2f s (%.0f a second), %d of unknown outcome\n",
			name, verdict, judged, seconds, float64(judged)/seconds, history.unknown)
	}
	if refused {
		os.Exit(1)
	}
}

func fail(message string) {
	fmt.Fprintln(os.Stderr, message)
	os.Exit(2)
}
