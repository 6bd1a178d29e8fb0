package schedc

import (
	"encoding/json"
	"strings"
)

// manifests returns nodes and pods as a list in JSON. It sets apiVersion and kind, which objects of k8s.io/api usually lack.
func manifests(nodes, pods []Object) (string, error) {
	items := make([]Manifest, 0, len(nodes)+len(pods))
	for kind, objects := range map[string][]Object{"Node": nodes, "Pod": pods} {
		for _, object := range objects {
			item, err := manifest(object)
			if err != nil {
				return "", err
			}
			item["apiVersion"], item["kind"] = "v1", kind
			items = append(items, item)
		}
	}
	text, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": items})
	return string(text), err
}

// manifest returns a copy of an object as JSON.
func manifest(object Object) (Manifest, error) {
	text, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	var item Manifest
	err = json.Unmarshal(text, &item)
	return item, err
}

// withNode returns a copy of a pod on a node.
func withNode(pod Object, nodeName string) (Object, error) {
	item, err := manifest(pod)
	if err != nil {
		return nil, err
	}
	spec, _ := item["spec"].(map[string]any)
	if spec == nil {
		spec = map[string]any{}
		item["spec"] = spec
	}
	spec["nodeName"] = nodeName
	return item, nil
}

// split returns the namespace and the name of a pod.
func split(pod string) (string, string) {
	namespace, name, _ := strings.Cut(pod, "/")
	return namespace, name
}
