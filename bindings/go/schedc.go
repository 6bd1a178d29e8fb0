// Package schedc asks what a Kubernetes scheduler would do: which pods may run on a node, where pods go, and how many
// nodes they need. It calls the C library of schedc (bindings/c), which contains the scheduler's own code.
//
// A [Snapshot] has the method names of Cluster Autoscaler's ClusterSnapshot. An [Evaluator] evaluates the scenarios of
// `schedc evaluate`, with the same bytes as results.
//
// A value belongs to one goroutine at a time; any number of goroutines can have values of the same [Profiles].
package schedc

/*
#cgo CFLAGS: -I${SRCDIR}/../c/include
#cgo linux LDFLAGS: -L${SRCDIR}/../../target/release -l:libschedc_c.a -lpthread -ldl -lm
#cgo darwin LDFLAGS: -L${SRCDIR}/../../target/release -lschedc_c
#include "schedc.h"
*/
import "C"

import (
	"fmt"
	"runtime"
	"unsafe"
)

// Status is the result of a function of the C library. Its numbers are stable.
type Status int

// Statuses of errors, and of a rejection.
const (
	Rejected        Status = C.SCHEDC_STATUS_REJECTED
	Panicked        Status = C.SCHEDC_STATUS_PANICKED
	InvalidProfile  Status = C.SCHEDC_STATUS_INVALID_PROFILE
	UnknownProfile  Status = C.SCHEDC_STATUS_UNKNOWN_PROFILE
	InvalidObjects  Status = C.SCHEDC_STATUS_INVALID_OBJECTS
	UnknownKind     Status = C.SCHEDC_STATUS_UNKNOWN_KIND
	UnknownPod      Status = C.SCHEDC_STATUS_UNKNOWN_POD
	UnknownNode     Status = C.SCHEDC_STATUS_UNKNOWN_NODE
	InvalidScenario Status = C.SCHEDC_STATUS_INVALID_SCENARIO
	InvalidRequest  Status = C.SCHEDC_STATUS_INVALID_REQUEST
)

// Error is an error with a stable status.
type Error struct {
	Status  Status
	Message string
}

func (e *Error) Error() string { return e.Message }

// text returns a text for one call. The caller keeps the string alive during the call.
func text(s string) C.schedc_text {
	if s == "" {
		return C.schedc_text{}
	}
	return C.schedc_text{data: (*C.uint8_t)(unsafe.Pointer(unsafe.StringData(s))), length: C.size_t(len(s))}
}

// texts returns texts for one call, with the function that releases them.
func texts(strings []string) (*C.schedc_text, func()) {
	if len(strings) == 0 {
		return nil, func() {}
	}
	pinner := new(runtime.Pinner)
	list := make([]C.schedc_text, len(strings))
	for at, s := range strings {
		if s != "" {
			pinner.Pin(unsafe.StringData(s))
			list[at] = text(s)
		}
	}
	pinner.Pin(&list[0])
	return &list[0], pinner.Unpin
}

// result returns the content of a buffer, and releases the buffer. The second value is false for a rejection. Other statuses than success
// and rejection become an [Error].
func result(status C.schedc_status, out *C.schedc_buffer) (string, bool, error) {
	content := C.GoStringN((*C.char)(unsafe.Pointer(out.data)), C.int(out.length))
	C.schedc_buffer_free(out)
	switch status {
	case C.SCHEDC_STATUS_OK:
		return content, true, nil
	case C.SCHEDC_STATUS_REJECTED:
		return content, false, nil
	default:
		return "", false, &Error{Status: Status(status), Message: content}
	}
}

// Version returns the version of schedc.
func Version() string {
	version := C.schedc_version()
	return C.GoStringN((*C.char)(unsafe.Pointer(version.data)), C.int(version.length))
}

// Source is a profile: the name of its file, such as `packed.toml`, and its text. An empty text is kube-scheduler's default profile.
type Source struct {
	Name, Text string
}

// Profiles are valid profiles. Their texts stay in memory until the program ends: read each profile once.
type Profiles struct {
	handle *C.schedc_profiles
}

// ParseProfiles reads and checks profiles. The error has all problems of all profiles, with file and line.
func ParseProfiles(sources ...Source) (*Profiles, error) {
	pinner := new(runtime.Pinner)
	defer pinner.Unpin()
	list := make([]C.schedc_source, len(sources)+1)
	for at, source := range sources {
		for _, s := range []string{source.Name, source.Text} {
			if s != "" {
				pinner.Pin(unsafe.StringData(s))
			}
		}
		list[at] = C.schedc_source{name: text(source.Name), text: text(source.Text)}
	}
	profiles := new(Profiles)
	var out C.schedc_buffer
	status := C.schedc_profiles_parse(&list[0], C.size_t(len(sources)), &profiles.handle, &out)
	if _, _, err := result(status, &out); err != nil {
		return nil, err
	}
	runtime.SetFinalizer(profiles, (*Profiles).free)
	return profiles, nil
}

// DefaultProfile returns kube-scheduler's default profile, with the name `default`.
func DefaultProfile() *Profiles {
	profiles, err := ParseProfiles(Source{Name: "default.toml"})
	if err != nil {
		panic(fmt.Sprintf("the default profile is part of the library: %v", err))
	}
	return profiles
}

func (p *Profiles) free() {
	C.schedc_profiles_free(p.handle)
	p.handle = nil
}

// Evaluator evaluates the scenarios of `schedc evaluate`.
type Evaluator struct {
	handle *C.schedc_evaluator
}

// NewEvaluator creates the plugins of all profiles.
func NewEvaluator(profiles *Profiles) (*Evaluator, error) {
	evaluator := new(Evaluator)
	var out C.schedc_buffer
	status := C.schedc_evaluator_new(profiles.handle, &evaluator.handle, &out)
	runtime.KeepAlive(profiles)
	if _, _, err := result(status, &out); err != nil {
		return nil, err
	}
	runtime.SetFinalizer(evaluator, (*Evaluator).Close)
	return evaluator, nil
}

// Evaluate evaluates a scenario, one JSON object. It returns the line that `schedc evaluate` writes, without
// the line break.
func (e *Evaluator) Evaluate(scenario string) (string, error) {
	var out C.schedc_buffer
	status := C.schedc_evaluator_evaluate(e.handle, text(scenario), &out)
	runtime.KeepAlive(scenario)
	runtime.KeepAlive(e)
	line, _, err := result(status, &out)
	return line, err
}

// Close releases the evaluator. Later calls return an error.
func (e *Evaluator) Close() {
	C.schedc_evaluator_free(e.handle)
	e.handle = nil
}
