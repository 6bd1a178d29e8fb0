package schedc

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func node(name, cpu string) Manifest {
	return Manifest{
		"metadata": map[string]any{"name": name},
		"status":   map[string]any{"allocatable": map[string]any{"cpu": cpu, "pods": "10"}},
	}
}

func pod(name, cpu string) Manifest {
	requests := map[string]any{"requests": map[string]any{"cpu": cpu}}
	containers := []any{map[string]any{"name": "c", "resources": requests}}
	return Manifest{"metadata": map[string]any{"name": name}, "spec": map[string]any{"containers": containers}}
}

func snapshot(t *testing.T, nodes ...Object) *Snapshot {
	t.Helper()
	snapshot, err := NewSnapshot(DefaultProfile(), "default")
	if err != nil {
		t.Fatal(err)
	}
	if err := snapshot.SetClusterState(nodes, nil); err != nil {
		t.Fatal(err)
	}
	return snapshot
}

func succeed(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// rejected fails unless the error is a rejection with this reason.
func rejected(t *testing.T, err error, reason string) {
	t.Helper()
	var rejection *SchedulingError
	if !errors.As(err, &rejection) || len(rejection.Reasons) != 1 || rejection.Reasons[0] != reason {
		t.Fatalf("%v is not the rejection %q", err, reason)
	}
}

// failed fails unless the error has this status.
func failed(t *testing.T, err error, status Status) {
	t.Helper()
	var failure *Error
	if !errors.As(err, &failure) || failure.Status != status {
		t.Fatalf("%v has not the status %d", err, status)
	}
}

func TestARevertedForkRestoresTheCluster(t *testing.T) {
	s := snapshot(t, node("a", "2"))
	succeed(t, s.Fork())
	succeed(t, s.SchedulePod(pod("p", "2"), "a"))
	rejected(t, s.CheckPredicates(pod("q", "1"), "a"), "Insufficient cpu")
	succeed(t, s.Revert())
	succeed(t, s.CheckPredicates(pod("q", "1"), "a"))
	succeed(t, s.Fork())
	succeed(t, s.SchedulePod(pod("p", "2"), "a"))
	succeed(t, s.Commit())
	succeed(t, s.Revert())
	rejected(t, s.CheckPredicates(pod("q", "1"), "a"), "Insufficient cpu")
	succeed(t, s.UnschedulePod("", "p", "a"))
	succeed(t, s.CheckPredicates(pod("q", "1"), "a"))
}

func TestNodesAreAddedAndRemovedWithTheirPods(t *testing.T) {
	s := snapshot(t)
	succeed(t, s.AddNodeInfo(NodeInfo{Node: node("a", "2"), Pods: []Object{pod("p", "1")}}))
	rejected(t, s.CheckPredicates(pod("q", "2"), "a"), "Insufficient cpu")
	succeed(t, s.RemoveNodeInfo("a"))
	failed(t, s.CheckPredicates(pod("q", "2"), "a"), UnknownNode)
	failed(t, s.RemoveNodeInfo("a"), UnknownNode)
	succeed(t, s.AddNodeInfo(NodeInfo{Node: node("a", "2")}))
	succeed(t, s.CheckPredicates(pod("q", "2"), "a"))
	succeed(t, s.ForceAddPod(pod("r", "2"), "a"))
	rejected(t, s.CheckPredicates(pod("q", "2"), "a"), "Insufficient cpu")
	succeed(t, s.ForceRemovePod("default", "r", "a"))
	failed(t, s.ForceRemovePod("default", "r", "a"), UnknownPod)
	succeed(t, s.CheckPredicates(pod("q", "2"), "a"))
}

func TestObjectsAreReadFromProtobuf(t *testing.T) {
	s := snapshot(t)
	message := []byte("k8s\x00\x0a\x0a\x0a\x02v1\x12\x04Node\x12\x05\x0a\x03\x0a\x01c")
	succeed(t, s.ApplyProtobuf())
	succeed(t, s.ApplyProtobuf(message))
	nodes, err := s.ListNodes()
	succeed(t, err)
	if len(nodes) != 1 || nodes[0] != "c" {
		t.Fatal(nodes)
	}
	failed(t, s.ApplyProtobuf(message, message[:9], nil), InvalidObjects)
}

func TestASearchFindsAMatchingNode(t *testing.T) {
	s := snapshot(t, node("a", "2"), node("b", "2"), node("c", "2"))
	found, err := s.SchedulePodOnAnyNodeMatching(pod("p", "2"), func(name string) bool { return name == "b" })
	succeed(t, err)
	if found != "b" {
		t.Fatal(found)
	}
	_, err = s.SchedulePodOnAnyNodeMatching(pod("q", "2"), func(name string) bool { return name == "b" })
	rejected(t, err, "no node admits the pod")
	_, err = s.SchedulePodOnAnyNodeMatching(pod("q", "2"), func(string) bool { return false })
	rejected(t, err, "no node matches")
}

func TestManyNodesAreCheckedAtOnce(t *testing.T) {
	s := snapshot(t, node("a", "1"), node("b", "2"))
	fits, err := s.CheckPredicatesOnNodes(pod("p", "2"), []string{"b", "a", "b"})
	succeed(t, err)
	if !fits[0] || fits[1] || !fits[2] {
		t.Fatal(fits)
	}
	fits, err = s.CheckPredicatesOnNodes(pod("p", "2"), nil)
	succeed(t, err)
	if len(fits) != 0 {
		t.Fatal(fits)
	}
}

func TestAnEstimateCountsNodes(t *testing.T) {
	s := snapshot(t)
	pods := []Object{pod("p", "2"), pod("q", "2"), pod("r", "2"), pod("large", "9")}
	template := NodeInfo{Node: node("group", "5"), Pods: []Object{pod("daemon", "1")}}
	estimate, err := s.Estimate(template, pods, 4)
	succeed(t, err)
	if estimate.Nodes != 2 || len(estimate.Placed) != 3 || estimate.Left[0].Pod != "default/large" {
		t.Fatalf("%+v", estimate)
	}
	rejected(t, estimate.Left[0].Rejection, "Insufficient cpu")
}

func TestADecisionHasTheMessage(t *testing.T) {
	s := snapshot(t, node("a", "1"))
	text, err := s.Decide(pod("p", "2"))
	succeed(t, err)
	var decision struct{ Message string }
	succeed(t, json.Unmarshal(text, &decision))
	if !strings.HasPrefix(decision.Message, "0/1 nodes are available: 1 Insufficient cpu.") {
		t.Fatal(decision.Message)
	}
}

func TestErrorsHaveAStatus(t *testing.T) {
	_, err := ParseProfiles(Source{Name: "own.toml", Text: "filter = 7"})
	failed(t, err, InvalidProfile)
	if !strings.Contains(err.Error(), "own.toml:1:") {
		t.Fatal(err)
	}
	_, err = NewSnapshot(DefaultProfile(), "other")
	failed(t, err, UnknownProfile)
	s := snapshot(t)
	failed(t, s.Apply("{"), InvalidObjects)
	s.Close()
	if s.Fork() == nil {
		t.Fatal("a closed snapshot has no forks")
	}
}

func TestGoroutinesHaveTheirOwnSnapshots(t *testing.T) {
	profiles := DefaultProfile()
	var group sync.WaitGroup
	for range 10 {
		group.Add(1)
		go func() {
			defer group.Done()
			s, err := NewSnapshot(profiles, "default")
			if err == nil {
				err = s.AddNodeInfo(NodeInfo{Node: node("a", "2")})
			}
			for range 20 {
				if err == nil {
					err = errors.Join(s.Fork(), s.SchedulePod(pod("p", "2"), "a"), s.Revert())
				}
			}
			if err != nil {
				t.Error(err)
			}
		}()
	}
	group.Wait()
}

// The file of SCHEDC_EXPECTED has the lines that `schedc evaluate` writes for a corpus.
func TestScenariosHaveTheBytesOfEvaluate(t *testing.T) {
	expected, corpus := os.Getenv("SCHEDC_EXPECTED"), os.Getenv("SCHEDC_CORPUS")
	if expected == "" || corpus == "" {
		t.Skip("SCHEDC_CORPUS and SCHEDC_EXPECTED name no files; `cargo test -p schedc-c --test main go` sets them")
	}
	files, err := filepath.Glob("../../tools/import/tests/profiles/*.toml")
	succeed(t, err)
	var sources []Source
	for _, file := range files {
		text, err := os.ReadFile(file)
		succeed(t, err)
		sources = append(sources, Source{Name: filepath.Base(file), Text: string(text)})
	}
	profiles, err := ParseProfiles(sources...)
	succeed(t, err)
	evaluator, err := NewEvaluator(profiles)
	succeed(t, err)
	file, err := os.Open(corpus)
	succeed(t, err)
	defer file.Close()
	reader, err := gzip.NewReader(file)
	succeed(t, err)
	wanted, err := os.Open(expected)
	succeed(t, err)
	defer wanted.Close()
	scenarios, lines := bufio.NewScanner(reader), bufio.NewScanner(wanted)
	scenarios.Buffer(nil, 1<<28)
	lines.Buffer(nil, 1<<28)
	for scenarios.Scan() && lines.Scan() {
		line, err := evaluator.Evaluate(scenarios.Text())
		succeed(t, err)
		if line != lines.Text() {
			t.Fatalf("%s instead of %s", line, lines.Text())
		}
	}
	succeed(t, errors.Join(scenarios.Err(), lines.Err()))
	if scenarios.Scan() || lines.Scan() {
		t.Fatal("the files have different numbers of lines")
	}
}
