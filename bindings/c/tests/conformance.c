/* Conformance of the C library: every function, errors, and scenarios.
 *
 *     conformance                                   calls every function
 *     conformance evaluate SCENARIOS PROFILE...     prints a line of results for each scenario
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schedc.h"

static schedc_text text(const char *string) {
    schedc_text text = {(const uint8_t *)string, strlen(string)};
    return text;
}

/* Fails unless the status is the expected one. Prints the buffer, which has the message. */
static void expect(schedc_status got, schedc_status expected, schedc_buffer *out, const char *what) {
    if (got != expected) {
        fprintf(stderr, "%s: status %d instead of %d: %.*s\n", what, (int)got, (int)expected, (int)out->length,
                (const char *)out->data);
        exit(1);
    }
}

/* Fails unless the buffer contains a text, and releases it. */
static void contains(schedc_buffer *out, const char *part) {
    size_t length = strlen(part);
    int found = 0;
    for (size_t at = 0; at + length <= out->length; at++) {
        found |= memcmp(out->data + at, part, length) == 0;
    }
    if (!found) {
        fprintf(stderr, "`%s` is not in: %.*s\n", part, (int)out->length, (const char *)out->data);
        exit(1);
    }
    schedc_buffer_free(out);
    assert(out->data == NULL && out->length == 0);
}

static const char NODES[] =
    "{ apiVersion: v1, kind: Node, metadata: { name: a }, status: { allocatable: { cpu: 2, pods: 10 } } }\n"
    "---\n"
    "{ apiVersion: v1, kind: Node, metadata: { name: b }, status: { allocatable: { cpu: 4, pods: 10 } } }\n";
static const char PODS[] =
    "{ apiVersion: v1, kind: Pod, metadata: { name: p },\n"
    "  spec: { containers: [{ name: c, resources: { requests: { cpu: 3 } } }] } }\n"
    "---\n"
    "{ apiVersion: v1, kind: Pod, metadata: { name: q },\n"
    "  spec: { containers: [{ name: c, resources: { requests: { cpu: 9 } } }] } }\n";
static const char TEMPLATE[] =
    "{ apiVersion: v1, kind: Node, metadata: { name: group }, status: { allocatable: { cpu: 16, pods: 10 } } }\n";

/* The node `c` in protobuf: the prefix, its version and kind, and the node with its name. */
static const char MESSAGE[] = "k8s\0\x0a\x0a\x0a\x02v1\x12\x04Node\x12\x05\x0a\x03\x0a\x01" "c";

static schedc_profiles *default_profile(void) {
    schedc_source source = {text("default.toml"), text("")};
    schedc_profiles *profiles = NULL;
    schedc_buffer out = {NULL, 0};
    expect(schedc_profiles_parse(&source, 1, &profiles, &out), SCHEDC_STATUS_OK, &out, "parse");
    assert(profiles != NULL && out.data == NULL);
    return profiles;
}

static void operations(void) {
    schedc_buffer out = {NULL, 0};
    schedc_profiles *profiles = default_profile();
    schedc_cluster *cluster = NULL;
    expect(schedc_cluster_new(profiles, text("default"), &cluster, &out), SCHEDC_STATUS_OK, &out, "new");
    schedc_profiles_free(profiles); /* The cluster keeps what it needs. */

    expect(schedc_cluster_apply(cluster, text(NODES), false, &out), SCHEDC_STATUS_OK, &out, "apply");
    contains(&out, "\"nodes\":2");
    expect(schedc_cluster_apply(cluster, text(PODS), true, NULL), SCHEDC_STATUS_OK, &out, "apply with defaults");

    expect(schedc_cluster_check(cluster, text("p"), text("b"), &out), SCHEDC_STATUS_OK, &out, "check");
    expect(schedc_cluster_check(cluster, text("p"), text("a"), &out), SCHEDC_STATUS_REJECTED, &out, "check");
    contains(&out, "\"reasons\":[\"Insufficient cpu\"]");
    schedc_text message = {(const uint8_t *)MESSAGE, sizeof(MESSAGE) - 1};
    expect(schedc_cluster_apply_protobuf(cluster, &message, 1, &out), SCHEDC_STATUS_OK, &out, "apply_protobuf");
    contains(&out, "\"nodes\":1");
    expect(schedc_cluster_delete(cluster, text("Node"), text(""), text("c"), &out), SCHEDC_STATUS_OK, &out, "delete");
    message.length--;
    expect(schedc_cluster_apply_protobuf(cluster, &message, 1, &out), SCHEDC_STATUS_INVALID_OBJECTS, &out, "apply_protobuf");
    contains(&out, "message 0: it ends within a field");

    schedc_text nodes[2] = {text("a"), text("b")};
    bool fits[2] = {true, false};
    expect(schedc_cluster_check_nodes(cluster, text("p"), nodes, 2, fits, &out), SCHEDC_STATUS_OK, &out, "check_nodes");
    assert(!fits[0] && fits[1]);
    expect(schedc_cluster_check_nodes(cluster, text("p"), nodes, 1, fits, &out), SCHEDC_STATUS_REJECTED, &out, "check_nodes");

    size_t forks = 7;
    expect(schedc_cluster_fork(cluster, &out), SCHEDC_STATUS_OK, &out, "fork");
    expect(schedc_cluster_forks(cluster, &forks, &out), SCHEDC_STATUS_OK, &out, "forks");
    assert(forks == 1);
    expect(schedc_cluster_schedule(cluster, text("default/p"), text("a"), NULL), SCHEDC_STATUS_REJECTED, &out, "schedule");
    expect(schedc_cluster_schedule(cluster, text("default/p"), text("b"), &out), SCHEDC_STATUS_OK, &out, "schedule");
    expect(schedc_cluster_unschedule(cluster, text("p"), &out), SCHEDC_STATUS_OK, &out, "unschedule");
    expect(schedc_cluster_unschedule(cluster, text("p"), &out), SCHEDC_STATUS_REJECTED, &out, "unschedule");
    expect(schedc_cluster_schedule_on_any(cluster, text("p"), nodes, 1, &out), SCHEDC_STATUS_REJECTED, &out, "on a");
    schedc_buffer_free(&out);
    expect(schedc_cluster_schedule_on_any(cluster, text("p"), NULL, 0, &out), SCHEDC_STATUS_OK, &out, "on any");
    assert(out.length == 1 && out.data[0] == 'b');
    schedc_buffer_free(&out);
    expect(schedc_cluster_revert(cluster, &out), SCHEDC_STATUS_OK, &out, "revert");
    expect(schedc_cluster_fork(cluster, &out), SCHEDC_STATUS_OK, &out, "fork");
    expect(schedc_cluster_commit(cluster, &out), SCHEDC_STATUS_OK, &out, "commit");

    expect(schedc_cluster_decide(cluster, text("p"), &out), SCHEDC_STATUS_OK, &out, "decide");
    contains(&out, "\"chosen\":\"b\"");
    expect(schedc_cluster_decide(cluster, text("q"), &out), SCHEDC_STATUS_REJECTED, &out, "decide");
    contains(&out, "0/2 nodes are available: 2 Insufficient cpu.");
    schedc_text pods[2] = {text("p"), text("q")};
    expect(schedc_cluster_estimate(cluster, text(TEMPLATE), pods, 2, 5, &out), SCHEDC_STATUS_OK, &out, "estimate");
    contains(&out, "{\"nodes\":1,\"placed\":[\"default/p\",\"default/q\"],\"left\":[]}");
    expect(schedc_cluster_requests(cluster, text("{\"op\": \"nodes\"}\n{\"op\": \"forks\"}"), &out), SCHEDC_STATUS_OK, &out, "requests");
    contains(&out, "{\"result\":[\"a\",\"b\"]}\n{\"result\":0}\n");
    expect(schedc_cluster_delete(cluster, text("Node"), text(""), text("a"), &out), SCHEDC_STATUS_OK, &out, "delete");
    expect(schedc_cluster_delete(cluster, text("Node"), text(""), text("a"), &out), SCHEDC_STATUS_REJECTED, &out, "delete");
    expect(schedc_cluster_clear(cluster, &out), SCHEDC_STATUS_OK, &out, "clear");
    schedc_cluster_free(cluster);
}

static void errors(void) {
    schedc_buffer out = {NULL, 0};
    schedc_profiles *profiles = default_profile();
    schedc_cluster *cluster = NULL;
    expect(schedc_cluster_new(profiles, text("other"), &cluster, &out), SCHEDC_STATUS_UNKNOWN_PROFILE, &out, "new");
    assert(cluster == NULL);
    contains(&out, "no profile is named `other`; the profiles are default");
    expect(schedc_cluster_new(NULL, text("default"), &cluster, &out), SCHEDC_STATUS_NULL_POINTER, &out, "new");
    contains(&out, "`profiles` is a null pointer");
    expect(schedc_cluster_new(profiles, text("default"), NULL, NULL), SCHEDC_STATUS_NULL_POINTER, &out, "new");
    expect(schedc_cluster_new(profiles, text("default"), &cluster, &out), SCHEDC_STATUS_OK, &out, "new");

    schedc_text missing = {NULL, 3};
    schedc_text latin = {(const uint8_t *)"caf\xe9", 4};
    expect(schedc_cluster_check(cluster, missing, text("a"), &out), SCHEDC_STATUS_NULL_POINTER, &out, "check");
    contains(&out, "`pod` is a null pointer");
    expect(schedc_cluster_check(cluster, latin, text("a"), &out), SCHEDC_STATUS_INVALID_UTF8, &out, "check");
    contains(&out, "`pod` is not UTF-8: byte 3 is wrong");
    expect(schedc_cluster_check(cluster, text("p"), text("a"), &out), SCHEDC_STATUS_UNKNOWN_POD, &out, "check");
    contains(&out, "there is no pod `p`");
    expect(schedc_cluster_check(NULL, text("p"), text("a"), &out), SCHEDC_STATUS_NULL_POINTER, &out, "check");
    contains(&out, "`cluster` is a null pointer");
    expect(schedc_cluster_forks(cluster, NULL, &out), SCHEDC_STATUS_NULL_POINTER, &out, "forks");
    contains(&out, "`count` is a null pointer");
    expect(schedc_cluster_apply(cluster, text("{"), false, &out), SCHEDC_STATUS_INVALID_OBJECTS, &out, "apply");
    contains(&out, "objects:1");
    expect(schedc_cluster_delete(cluster, text("DaemonSet"), text(""), text("web"), &out), SCHEDC_STATUS_UNKNOWN_KIND, &out, "delete");
    contains(&out, "DaemonSet");

    schedc_source source = {text("own.toml"), text("filter = 7")};
    schedc_profiles *wrong = (schedc_profiles *)1;
    expect(schedc_profiles_parse(&source, 1, &wrong, &out), SCHEDC_STATUS_INVALID_PROFILE, &out, "parse");
    assert(wrong == NULL);
    contains(&out, "own.toml:1:");
    schedc_evaluator *evaluator = NULL;
    expect(schedc_evaluator_new(profiles, &evaluator, &out), SCHEDC_STATUS_OK, &out, "evaluator");
    expect(schedc_evaluator_evaluate(evaluator, text("{}"), &out), SCHEDC_STATUS_INVALID_SCENARIO, &out, "evaluate");
    contains(&out, "`id`");
    expect(schedc_evaluator_hints(evaluator, text("[]"), &out), SCHEDC_STATUS_INVALID_SCENARIO, &out, "hints");
    schedc_buffer_free(&out);
    expect(schedc_evaluator_use_profile(evaluator, text("other"), &out), SCHEDC_STATUS_UNKNOWN_PROFILE, &out, "use");
    schedc_buffer_free(&out);
    expect(schedc_evaluator_use_profile(evaluator, text("default"), &out), SCHEDC_STATUS_OK, &out, "use");

    schedc_evaluator_free(evaluator);
    schedc_cluster_free(cluster);
    schedc_profiles_free(profiles);
    schedc_evaluator_free(NULL);
    schedc_cluster_free(NULL);
    schedc_profiles_free(NULL);
    schedc_buffer_free(NULL);
    schedc_buffer_free(&out);
}

/* Reads a file. The result is not released. */
static schedc_text file(const char *path) {
    FILE *stream = fopen(path, "rb");
    if (stream == NULL || fseek(stream, 0, SEEK_END) != 0) {
        perror(path);
        exit(1);
    }
    size_t length = (size_t)ftell(stream);
    rewind(stream);
    uint8_t *data = malloc(length + 1);
    assert(data != NULL && fread(data, 1, length, stream) == length);
    fclose(stream);
    schedc_text text = {data, length};
    return text;
}

/* Evaluates the scenarios of a file, one per line, with profiles from files. */
static void evaluate(const char *scenarios, char **paths, size_t count) {
    schedc_source *sources = calloc(count, sizeof(schedc_source));
    for (size_t at = 0; at < count; at++) {
        const char *name = strrchr(paths[at], '/');
        sources[at].name = text(name == NULL ? paths[at] : name + 1);
        sources[at].text = file(paths[at]);
    }
    schedc_buffer out = {NULL, 0};
    schedc_profiles *profiles = NULL;
    schedc_evaluator *evaluator = NULL;
    expect(schedc_profiles_parse(sources, count, &profiles, &out), SCHEDC_STATUS_OK, &out, "parse");
    expect(schedc_evaluator_new(profiles, &evaluator, &out), SCHEDC_STATUS_OK, &out, "evaluator");
    schedc_text lines = file(scenarios);
    while (lines.length > 0) {
        const uint8_t *end = memchr(lines.data, '\n', lines.length);
        schedc_text line = {lines.data, end == NULL ? lines.length : (size_t)(end - lines.data)};
        expect(schedc_evaluator_evaluate(evaluator, line, &out), SCHEDC_STATUS_OK, &out, "evaluate");
        fwrite(out.data, 1, out.length, stdout);
        putchar('\n');
        schedc_buffer_free(&out);
        size_t passed = line.length + (end != NULL);
        lines.data += passed;
        lines.length -= passed;
    }
    schedc_evaluator_free(evaluator);
    schedc_profiles_free(profiles);
}

int main(int count, char **arguments) {
    if (count > 3 && strcmp(arguments[1], "evaluate") == 0) {
        evaluate(arguments[2], arguments + 3, (size_t)count - 3);
        return 0;
    }
    assert(schedc_api_version() == 1);
    assert(schedc_version().length > 0);
    operations();
    errors();
    puts("every function was called");
    return 0;
}
