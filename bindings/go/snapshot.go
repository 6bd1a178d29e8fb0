package schedc

/*
#include "schedc.h"
*/
import "C"

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"unsafe"
)

// Object is a Kubernetes object. It is written as JSON; `*corev1.Pod` and `*corev1.Node` of k8s.io/api are objects.
type Object interface {
	GetName() string
	GetNamespace() string
}

// Manifest is an object in JSON, for programs without k8s.io/api.
type Manifest map[string]any

func (m Manifest) metadata(field string) string {
	metadata, _ := m["metadata"].(map[string]any)
	text, _ := metadata[field].(string)
	return text
}

// GetName returns the name.
func (m Manifest) GetName() string { return m.metadata("name") }

// GetNamespace returns the namespace.
func (m Manifest) GetNamespace() string { return m.metadata("namespace") }

// NodeInfo is a node with its pods.
type NodeInfo struct {
	Node Object
	Pods []Object
}

// SchedulingError is the rejection of a pod.
type SchedulingError struct {
	// Code is kube-scheduler's status code.
	Code string `json:"code"`
	// Plugin is the first plugin that rejects the pod; empty if no plugin does.
	Plugin string `json:"plugin"`
	// Reasons are kube-scheduler's reasons.
	Reasons []string `json:"reasons"`
}

func (e *SchedulingError) Error() string {
	if e.Plugin == "" {
		return fmt.Sprintf("%s: %q", e.Code, e.Reasons)
	}
	return fmt.Sprintf("%s: %s: %q", e.Plugin, e.Code, e.Reasons)
}

// Estimate is the number of new nodes that pods need.
type Estimate struct {
	// Nodes is the number of new nodes with at least one of the pods.
	Nodes int `json:"nodes"`
	// Placed are the pods that fit on these nodes.
	Placed []string `json:"placed"`
	// Left are the other pods.
	Left []LeftPod `json:"left"`
}

// LeftPod is a pod that was not placed on a new node.
type LeftPod struct {
	Pod string `json:"pod"`
	// Rejection is the rejection by an empty new node. nil: no further node was allowed, so the pod was not evaluated on one.
	Rejection *SchedulingError `json:"rejection"`
}

// Snapshot is a hypothetical cluster with a profile, with the method names of Cluster Autoscaler's ClusterSnapshot. Methods return a
// [SchedulingError] if the profile rejects a pod, and an [Error] for wrong input.
//
// A pod that the snapshot does not have yet is added by the first method that receives it, and waits for a node. Later calls find it by its
// namespace and name, and ignore its other fields; [Snapshot.ForceAddPod] and [Snapshot.Apply] replace it.
type Snapshot struct {
	handle *C.schedc_cluster
}

// NewSnapshot creates an empty cluster with the profile of this name or scheduler name.
func NewSnapshot(profiles *Profiles, profile string) (*Snapshot, error) {
	snapshot := new(Snapshot)
	var out C.schedc_buffer
	status := C.schedc_cluster_new(profiles.handle, text(profile), &snapshot.handle, &out)
	runtime.KeepAlive(profiles)
	runtime.KeepAlive(profile)
	if _, _, err := result(status, &out); err != nil {
		return nil, err
	}
	runtime.SetFinalizer(snapshot, (*Snapshot).Close)
	return snapshot, nil
}

// Close releases the snapshot. Later calls return an error.
func (s *Snapshot) Close() {
	C.schedc_cluster_free(s.handle)
	s.handle = nil
}

// Apply adds or replaces the objects of a text: documents in YAML or JSON, or lists of objects.
func (s *Snapshot) Apply(manifests string) error {
	var out C.schedc_buffer
	status := C.schedc_cluster_apply(s.handle, text(manifests), false, &out)
	runtime.KeepAlive(manifests)
	runtime.KeepAlive(s)
	_, _, err := result(status, &out)
	return err
}

// ApplyProtobuf adds or replaces objects in protobuf, as an API server sends and stores them: each message is an object, or a list of objects
// of one kind, and begins with the bytes of `k8s\x00`.
func (s *Snapshot) ApplyProtobuf(messages ...[]byte) error {
	pinner := new(runtime.Pinner)
	defer pinner.Unpin()
	list := make([]C.schedc_text, len(messages)+1)
	for at, message := range messages {
		if len(message) > 0 {
			data := unsafe.SliceData(message)
			pinner.Pin(data)
			list[at] = C.schedc_text{data: (*C.uint8_t)(data), length: C.size_t(len(message))}
		}
	}
	return s.change(func(out *C.schedc_buffer) C.schedc_status {
		return C.schedc_cluster_apply_protobuf(s.handle, &list[0], C.size_t(len(messages)), out)
	})
}

// SetClusterState replaces all objects by nodes and pods that have a node. All forks are closed.
func (s *Snapshot) SetClusterState(nodes, scheduledPods []Object) error {
	if err := s.Clear(); err != nil {
		return err
	}
	return s.apply(nodes, scheduledPods)
}

// AddNodeInfo adds a node and its pods.
func (s *Snapshot) AddNodeInfo(info NodeInfo) error {
	pods := make([]Object, len(info.Pods))
	for at, pod := range info.Pods {
		placed, err := withNode(pod, info.Node.GetName())
		if err != nil {
			return err
		}
		pods[at] = placed
	}
	return s.apply([]Object{info.Node}, pods)
}

// RemoveNodeInfo removes a node and its pods.
func (s *Snapshot) RemoveNodeInfo(nodeName string) error {
	pods, err := s.ListPods()
	if err != nil {
		return err
	}
	if err := s.remove("Node", "", nodeName, UnknownNode); err != nil {
		return err
	}
	for pod, node := range pods {
		if node == nodeName {
			namespace, name := split(pod)
			if err := s.remove("Pod", namespace, name, UnknownPod); err != nil {
				return err
			}
		}
	}
	return nil
}

// ForceAddPod adds a pod to a node, whether it fits there or not.
func (s *Snapshot) ForceAddPod(pod Object, nodeName string) error {
	placed, err := withNode(pod, nodeName)
	if err != nil {
		return err
	}
	return s.apply(nil, []Object{placed})
}

// ForceRemovePod removes a pod from the cluster. It must be on the named node.
func (s *Snapshot) ForceRemovePod(namespace, podName, nodeName string) error {
	if err := s.requireOnNode(namespace, podName, nodeName); err != nil {
		return err
	}
	return s.remove("Pod", namespace, podName, UnknownPod)
}

// CheckPredicates returns nil if a pod may run on a node.
func (s *Snapshot) CheckPredicates(pod Object, nodeName string) error {
	return s.verdict(pod, func(name string, out *C.schedc_buffer) C.schedc_status {
		return C.schedc_cluster_check(s.handle, text(name), text(nodeName), out)
	})
}

// CheckPredicatesOnNodes returns for each node whether a pod may run there. It is faster than a call for each node.
func (s *Snapshot) CheckPredicatesOnNodes(pod Object, nodeNames []string) ([]bool, error) {
	fits := make([]bool, len(nodeNames)+1)
	nodes, release := texts(nodeNames)
	defer release()
	_, _, err := s.call(pod, func(name string, out *C.schedc_buffer) C.schedc_status {
		return C.schedc_cluster_check_nodes(
			s.handle, text(name), nodes, C.size_t(len(nodeNames)), (*C.bool)(&fits[0]), out)
	})
	return fits[:len(nodeNames)], err
}

// SchedulePod puts a pod on a node if it may run there. Otherwise nothing changes.
func (s *Snapshot) SchedulePod(pod Object, nodeName string) error {
	return s.verdict(pod, func(name string, out *C.schedc_buffer) C.schedc_status {
		return C.schedc_cluster_schedule(s.handle, text(name), text(nodeName), out)
	})
}

// SchedulePodOnAnyNodeMatching puts a pod on the first node where it may run and that matches, and returns the node. The search begins
// after the node that the previous search found.
func (s *Snapshot) SchedulePodOnAnyNodeMatching(pod Object, nodeMatches func(nodeName string) bool) (string, error) {
	names, err := s.ListNodes()
	if err != nil {
		return "", err
	}
	names = slices.DeleteFunc(names, func(name string) bool { return !nodeMatches(name) })
	if len(names) == 0 {
		return "", &SchedulingError{Code: "Unschedulable", Reasons: []string{"no node matches"}}
	}
	nodes, release := texts(names)
	defer release()
	answer, found, err := s.call(pod, func(name string, out *C.schedc_buffer) C.schedc_status {
		return C.schedc_cluster_schedule_on_any(s.handle, text(name), nodes, C.size_t(len(names)), out)
	})
	if err != nil || found {
		return answer, err
	}
	if answer == "" {
		return "", &SchedulingError{Code: "Unschedulable", Reasons: []string{"no node admits the pod"}}
	}
	return "", rejection(answer)
}

// UnschedulePod removes a pod from its node; it waits again.
func (s *Snapshot) UnschedulePod(namespace, podName, nodeName string) error {
	if err := s.requireOnNode(namespace, podName, nodeName); err != nil {
		return err
	}
	var out C.schedc_buffer
	name := fullName(namespace, podName)
	status := C.schedc_cluster_unschedule(s.handle, text(name), &out)
	runtime.KeepAlive(name)
	runtime.KeepAlive(s)
	_, _, err := result(status, &out)
	return err
}

// change calls a function without a result. It keeps the snapshot alive during the call, because the finalizer frees the cluster.
func (s *Snapshot) change(call func(out *C.schedc_buffer) C.schedc_status) error {
	var out C.schedc_buffer
	status := call(&out)
	runtime.KeepAlive(s)
	_, _, err := result(status, &out)
	return err
}

// Fork opens a fork: later changes can be reverted. Forks can be nested.
func (s *Snapshot) Fork() error {
	return s.change(func(out *C.schedc_buffer) C.schedc_status { return C.schedc_cluster_fork(s.handle, out) })
}

// Commit adds the changes since the last fork to the enclosing fork, or makes them final. Without a fork, nothing happens.
func (s *Snapshot) Commit() error {
	return s.change(func(out *C.schedc_buffer) C.schedc_status { return C.schedc_cluster_commit(s.handle, out) })
}

// Revert undoes the changes since the last fork. Without a fork, nothing happens.
func (s *Snapshot) Revert() error {
	return s.change(func(out *C.schedc_buffer) C.schedc_status { return C.schedc_cluster_revert(s.handle, out) })
}

// Clear removes all objects, and closes all forks.
func (s *Snapshot) Clear() error {
	return s.change(func(out *C.schedc_buffer) C.schedc_status { return C.schedc_cluster_clear(s.handle, out) })
}

// Decide returns the decision about a pod in JSON, as `schedc evaluate` writes it. The pod is not placed.
func (s *Snapshot) Decide(pod Object) (json.RawMessage, error) {
	decision, _, err := s.call(pod, func(name string, out *C.schedc_buffer) C.schedc_status {
		return C.schedc_cluster_decide(s.handle, text(name), out)
	})
	return json.RawMessage(decision), err
}

// Estimate returns the number of copies of a node that pods need, as BinpackingNodeEstimator does. It
// adds pods that the snapshot does not have yet, which then wait; nothing else changes.
func (s *Snapshot) Estimate(template NodeInfo, pods []Object, maxNodes int) (Estimate, error) {
	var estimate Estimate
	manifests, err := manifests([]Object{template.Node}, template.Pods)
	if err != nil {
		return estimate, err
	}
	names := make([]string, len(pods))
	for at, pod := range pods {
		names[at] = fullName(pod.GetNamespace(), pod.GetName())
	}
	known, err := s.ListPods()
	if err != nil {
		return estimate, err
	}
	for at, pod := range pods {
		if _, isKnown := known[names[at]]; !isKnown {
			if err := s.apply(nil, []Object{pod}); err != nil {
				return estimate, err
			}
		}
	}
	list, release := texts(names)
	defer release()
	var out C.schedc_buffer
	status := C.schedc_cluster_estimate(
		s.handle, text(manifests), list, C.size_t(len(names)), C.size_t(max(maxNodes, 0)), &out)
	runtime.KeepAlive(manifests)
	runtime.KeepAlive(s)
	answer, _, err := result(status, &out)
	if err != nil {
		return estimate, err
	}
	err = json.Unmarshal([]byte(answer), &estimate)
	return estimate, err
}

// Requests answers requests in JSON, one per line, with a line for each.
func (s *Snapshot) Requests(requests string) (string, error) {
	var out C.schedc_buffer
	status := C.schedc_cluster_requests(s.handle, text(requests), &out)
	runtime.KeepAlive(requests)
	runtime.KeepAlive(s)
	answers, _, err := result(status, &out)
	return answers, err
}

// ListNodes returns the names of the nodes, sorted.
func (s *Snapshot) ListNodes() ([]string, error) {
	var nodes []string
	err := s.request(`{"op": "nodes"}`, &nodes)
	return nodes, err
}

// ListPods returns the node of each pod by `namespace/name`; an empty one for pods that wait.
func (s *Snapshot) ListPods() (map[string]string, error) {
	var pods map[string]string
	err := s.request(`{"op": "pods"}`, &pods)
	return pods, err
}

func (s *Snapshot) request(request string, value any) error {
	answer, err := s.Requests(request)
	if err != nil {
		return err
	}
	return json.Unmarshal([]byte(answer), &struct{ Result any }{value})
}

func (s *Snapshot) remove(kind, namespace, name string, unknown Status) error {
	var out C.schedc_buffer
	status := C.schedc_cluster_delete(s.handle, text(kind), text(namespace), text(name), &out)
	runtime.KeepAlive(s)
	_, existed, err := result(status, &out)
	if err == nil && !existed {
		err = &Error{Status: unknown, Message: fmt.Sprintf("there is no %s %q", kind, name)}
	}
	return err
}

// requireOnNode returns an error if a pod is not on a node.
func (s *Snapshot) requireOnNode(namespace, podName, nodeName string) error {
	pods, err := s.ListPods()
	if err != nil {
		return err
	}
	name := fullName(namespace, podName)
	if node, isKnown := pods[name]; !isKnown || node != nodeName {
		return &Error{Status: UnknownPod, Message: fmt.Sprintf("there is no pod %q on the node %q", name, nodeName)}
	}
	return nil
}

// call calls a function with the name of a pod, which is added first if it is unknown.
func (s *Snapshot) call(pod Object, function func(string, *C.schedc_buffer) C.schedc_status) (string, bool, error) {
	name := fullName(pod.GetNamespace(), pod.GetName())
	call := func() (string, bool, error) {
		var out C.schedc_buffer
		answer, found, err := result(function(name, &out), &out)
		runtime.KeepAlive(s)
		return answer, found, err
	}
	answer, found, err := call()
	var failure *Error
	if errors.As(err, &failure) && failure.Status == UnknownPod {
		if err := s.apply(nil, []Object{pod}); err != nil {
			return "", false, err
		}
		answer, found, err = call()
	}
	return answer, found, err
}

func (s *Snapshot) verdict(pod Object, function func(string, *C.schedc_buffer) C.schedc_status) error {
	answer, fits, err := s.call(pod, function)
	if err != nil || fits {
		return err
	}
	return rejection(answer)
}

func (s *Snapshot) apply(nodes, pods []Object) error {
	manifests, err := manifests(nodes, pods)
	if err != nil {
		return err
	}
	return s.Apply(manifests)
}

func rejection(answer string) error {
	rejection := new(SchedulingError)
	if err := json.Unmarshal([]byte(answer), rejection); err != nil {
		return err
	}
	return rejection
}

func fullName(namespace, name string) string {
	if namespace == "" {
		namespace = "default"
	}
	return namespace + "/" + name
}
