/* Measures the C library: questions OBJECTS. benches/workloads/libraries.sh describes the settings and the output. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "schedc.h"

static schedc_text text(const char *string) {
    schedc_text text = {(const uint8_t *)string, strlen(string)};
    return text;
}

static size_t setting(const char *name) { return strtoul(getenv(name), NULL, 10); }

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void report(const char *operation, double begin, size_t count) {
    printf("C\t%s\t%.3f\n", operation, (now() - begin) * 1e6 / (double)count);
}

static void expect(schedc_status got, schedc_buffer *out) {
    if (got != SCHEDC_STATUS_OK) {
        fprintf(stderr, "status %d: %.*s\n", (int)got, (int)out->length, (const char *)out->data);
        exit(1);
    }
    schedc_buffer_free(out);
}

static size_t nodes;
static schedc_text *names;

static schedc_cluster *new_cluster(const schedc_profiles *profiles, schedc_text objects) {
    schedc_buffer out = {NULL, 0};
    schedc_cluster *cluster = NULL;
    expect(schedc_cluster_new(profiles, text("default"), &cluster, &out), &out);
    expect(schedc_cluster_apply(cluster, objects, false, &out), &out);
    return cluster;
}

static void checks(schedc_cluster *cluster, size_t count) {
    schedc_buffer out = {NULL, 0};
    for (size_t at = 0; at < count; at++) {
        expect(schedc_cluster_check(cluster, text("waiting"), names[at % nodes], &out), &out);
    }
}

static void *checks_of_thread(void *cluster) {
    checks(cluster, setting("CHECKS") / setting("THREADS"));
    return NULL;
}

int main(int count, char **arguments) {
    FILE *stream = count == 2 ? fopen(arguments[1], "rb") : NULL;
    if (stream == NULL || fseek(stream, 0, SEEK_END) != 0) {
        perror("questions OBJECTS");
        return 1;
    }
    size_t length = (size_t)ftell(stream);
    rewind(stream);
    uint8_t *data = malloc(length);
    if (data == NULL || fread(data, 1, length, stream) != length) return 1;
    schedc_text objects = {data, length};
    nodes = setting("NODES");
    names = calloc(nodes, sizeof(schedc_text));
    for (size_t at = 0; at < nodes; at++) {
        char *name = malloc(32);
        snprintf(name, 32, "node-%zu", at);
        names[at] = text(name);
    }

    schedc_buffer out = {NULL, 0};
    schedc_source source = {text("default.toml"), text("")};
    schedc_profiles *profiles = NULL;
    expect(schedc_profiles_parse(&source, 1, &profiles, &out), &out);
    schedc_cluster *cluster = new_cluster(profiles, objects);
    double begin = now();
    checks(cluster, setting("CHECKS"));
    report("check", begin, setting("CHECKS"));
    bool *fits = calloc(nodes, sizeof(bool));
    size_t calls = setting("CHECKS") / nodes;
    begin = now();
    for (size_t at = 0; at < calls; at++) {
        expect(schedc_cluster_check_nodes(cluster, text("waiting"), names, nodes, fits, &out), &out);
    }
    report("check-nodes", begin, calls * nodes);
    begin = now();
    for (size_t at = 0; at < setting("FORKS"); at++) {
        expect(schedc_cluster_fork(cluster, &out), &out);
        expect(schedc_cluster_schedule(cluster, text("waiting"), names[at % nodes], &out), &out);
        expect(schedc_cluster_revert(cluster, &out), &out);
    }
    report("fork", begin, setting("FORKS"));
    begin = now();
    for (size_t at = 0; at < setting("DECISIONS"); at++) {
        expect(schedc_cluster_decide(cluster, text("waiting"), &out), &out);
    }
    report("decide", begin, setting("DECISIONS"));

    size_t threads = setting("THREADS");
    schedc_cluster **clusters = calloc(threads, sizeof(schedc_cluster *));
    pthread_t *handles = calloc(threads, sizeof(pthread_t));
    for (size_t at = 0; at < threads; at++) clusters[at] = new_cluster(profiles, objects);
    begin = now();
    for (size_t at = 0; at < threads; at++) pthread_create(&handles[at], NULL, checks_of_thread, clusters[at]);
    for (size_t at = 0; at < threads; at++) pthread_join(handles[at], NULL);
    report("threads", begin, setting("CHECKS"));
    return 0;
}
