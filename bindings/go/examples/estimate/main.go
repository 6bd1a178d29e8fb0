// Finds the node group that takes the most pending pods.
package main

import (
	"fmt"
	"log"

	"schedc"
)

func node(name, cpu string) schedc.Manifest {
	return schedc.Manifest{
		"metadata": map[string]any{"name": name, "labels": map[string]any{"kubernetes.io/hostname": name}},
		"status":   map[string]any{"allocatable": map[string]any{"cpu": cpu, "pods": "110"}},
	}
}

func pod(name, cpu string) schedc.Manifest {
	requests := map[string]any{"requests": map[string]any{"cpu": cpu}}
	containers := []any{map[string]any{"name": "main", "resources": requests}}
	return schedc.Manifest{"metadata": map[string]any{"name": name}, "spec": map[string]any{"containers": containers}}
}

func run() error {
	snapshot, err := schedc.NewSnapshot(schedc.DefaultProfile(), "default")
	if err != nil {
		return err
	}
	defer snapshot.Close()
	if err := snapshot.AddNodeInfo(schedc.NodeInfo{Node: node("n1", "4")}); err != nil {
		return err
	}

	// Place pods on the existing nodes; collect those that do not fit.
	var waiting []schedc.Object
	for at := range 12 {
		pod := pod(fmt.Sprintf("web-%d", at), "1500m")
		if _, err := snapshot.SchedulePodOnAnyNodeMatching(pod, func(string) bool { return true }); err != nil {
			waiting = append(waiting, pod)
		}
	}
	fmt.Printf("%d pods wait\n", len(waiting))

	// Which group takes most of them, with at most three more nodes?
	for _, group := range []schedc.Manifest{node("small", "2"), node("large", "8")} {
		estimate, err := snapshot.Estimate(schedc.NodeInfo{Node: group}, waiting, 3)
		if err != nil {
			return err
		}
		fmt.Printf("%s: %d nodes take %d pods\n", group.GetName(), estimate.Nodes, len(estimate.Placed))
	}
	return nil
}

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}
