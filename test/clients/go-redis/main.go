// Takes IDs with go-redis and prints them: go run . <port> <tag> <count>
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

const loops = 16

// silent drops what go-redis logs about each failed connection.
type silent struct{}

func (silent) Printf(context.Context, string, ...interface{}) {}

func main() {
	tag := os.Args[2]
	count, err := strconv.Atoi(os.Args[3])
	if err != nil {
		panic(err)
	}
	redis.SetLogger(silent{})
	client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:" + os.Args[1]})
	defer client.Close()
	ids := make([]string, count)
	var taken atomic.Int64
	var group sync.WaitGroup
	for loop := 0; loop < loops; loop++ {
		group.Add(1)
		go func(from int) {
			defer group.Done()
			for at := from; at < count; at += loops {
				ids[at] = take(client, tag)
				if int(taken.Add(1)) == count/2 {
					fmt.Fprintln(os.Stderr, "half")
				}
			}
		}(loop)
	}
	group.Wait()
	fmt.Println(strings.Join(ids, "\n"))
}

func take(client *redis.Client, tag string) string {
	for {
		id, err := client.Incr(context.Background(), tag).Result()
		if err == nil {
			return strconv.FormatInt(id, 10)
		}
		time.Sleep(50 * time.Millisecond)
	}
}
