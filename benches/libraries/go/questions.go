// Measures the Go package: questions OBJECTS. benches/workloads/libraries.sh describes the settings and the output.
package main

import (
	"fmt"
	"log"
	"os"
	"strconv"
	"sync"
	"time"

	"schedc"
)

func setting(name string) int {
	value, err := strconv.Atoi(os.Getenv(name))
	if err != nil {
		log.Fatalf("%s: %v", name, err)
	}
	return value
}

func succeed(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// measure prints the time of one operation.
func measure(operation string, count int, work func()) {
	begin := time.Now()
	work()
	fmt.Printf("Go\t%s\t%.3f\n", operation, float64(time.Since(begin).Nanoseconds())/1e3/float64(count))
}

func main() {
	objects, err := os.ReadFile(os.Args[1])
	succeed(err)
	profiles := schedc.DefaultProfile()
	newSnapshot := func() *schedc.Snapshot {
		snapshot, err := schedc.NewSnapshot(profiles, "default")
		succeed(err)
		succeed(snapshot.Apply(string(objects)))
		return snapshot
	}
	pod := schedc.Manifest{"metadata": map[string]any{"name": "waiting"}}
	names := make([]string, setting("NODES"))
	for at := range names {
		names[at] = fmt.Sprintf("node-%d", at)
	}
	checks := func(snapshot *schedc.Snapshot, count int) {
		for at := range count {
			succeed(snapshot.CheckPredicates(pod, names[at%len(names)]))
		}
	}

	snapshot := newSnapshot()
	measure("check", setting("CHECKS"), func() { checks(snapshot, setting("CHECKS")) })
	calls := setting("CHECKS") / len(names)
	measure("check-nodes", calls*len(names), func() {
		for range calls {
			_, err := snapshot.CheckPredicatesOnNodes(pod, names)
			succeed(err)
		}
	})
	measure("fork", setting("FORKS"), func() {
		for at := range setting("FORKS") {
			succeed(snapshot.Fork())
			succeed(snapshot.SchedulePod(pod, names[at%len(names)]))
			succeed(snapshot.Revert())
		}
	})
	measure("decide", setting("DECISIONS"), func() {
		for range setting("DECISIONS") {
			_, err := snapshot.Decide(pod)
			succeed(err)
		}
	})
	snapshots := make([]*schedc.Snapshot, setting("THREADS"))
	for at := range snapshots {
		snapshots[at] = newSnapshot()
	}
	measure("threads", setting("CHECKS"), func() {
		var group sync.WaitGroup
		for _, snapshot := range snapshots {
			group.Add(1)
			go func() {
				defer group.Done()
				checks(snapshot, setting("CHECKS")/len(snapshots))
			}()
		}
		group.Wait()
	})
}
