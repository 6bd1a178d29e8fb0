# Writes a curl configuration: objects become creations, and `{ method, path, body }` other requests. One curl process sends them over one
# connection.
def collection:
    . as $object
    | { Node: "/api/v1/nodes", Service: "/api/v1/namespaces/default/services", Pod: "/api/v1/namespaces/default/pods",
        PersistentVolume: "/api/v1/persistentvolumes", PersistentVolumeClaim: "/api/v1/namespaces/default/persistentvolumeclaims",
        StorageClass: "/apis/storage.k8s.io/v1/storageclasses", PriorityClass: "/apis/scheduling.k8s.io/v1/priorityclasses",
        DeviceClass: "/apis/resource.k8s.io/v1/deviceclasses", ResourceSlice: "/apis/resource.k8s.io/v1/resourceslices",
        ResourceClaim: "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims" }[$object.kind];

def request: if .method then . else { method: "POST", path: collection, body: . } end;

request
| "next", "silent", "show-error", "fail-with-body",
  "output = \"/dev/null\"", "max-time = 60",
  "cacert = \"\($dir)/ca.crt\"", "cert = \"\($dir)/admin.crt\"", "key = \"\($dir)/admin.key\"",
  "request = \(.method)", "url = \"https://127.0.0.1:\($port)\(.path)\"",
  "header = \"Content-Type: \(if .method == "PATCH" then "application/merge-patch+json" else "application/json" end)\"",
  if .body then "data = \(.body | tojson | tojson)" else empty end
