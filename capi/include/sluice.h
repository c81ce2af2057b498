// SPDX-License-Identifier: Apache-2.0
/*
 * Sluice from C, and from whatever calls C: a network that carries the transfers of another simulator, in its process.
 * Link with -lsluice. A page with an example: docs/c-abi.md.
 *
 * Units: time is simulated time in picoseconds from 0 on, sizes are payload bytes. Hosts are numbered from 0 in the order
 * of the topology.
 * Ownership: who opens a network closes it. The library copies what it is given, and keeps no pointer of the caller's.
 * Errors: a function says by its return value that it has failed, and sluice_last_error() then says why. Nothing is
 * printed and no exception leaves the library. After an error in the middle of a run (a broken invariant, no memory) the
 * network can only be closed; after any other one it is as it was.
 * Threads: one thread at a time may use a network. Different networks share nothing, so different threads may use them.
 */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define SLUICE_API __attribute__((visibility("default")))
#else
#define SLUICE_API
#endif

typedef struct sluice_network sluice_network;

/* A queue pair of this transfer alone. */
#define SLUICE_OWN_QUEUE_PAIR UINT32_MAX
/* As the end of an interval: for ever. */
#define SLUICE_FOREVER INT64_MAX

/* Bytes that one host writes to another. Zero is a sensible value of all but bytes and the hosts. */
typedef struct {
    uint32_t source;      /* a host */
    uint32_t destination; /* another one */
    uint64_t bytes;       /* at least 1 */
    /* Transfers from one host to another by the queue pair of one number leave in the order in which they take effect,
     * and share its congestion state. */
    uint32_t queue_pair;
    uint32_t priority;     /* traffic class 1 to 7; 0: class 3 */
    uint64_t tag;          /* the caller's, comes back with the completion */
    int64_t not_before_ps; /* it takes effect no earlier; an instant in the past is now */
} sluice_transfer;

typedef struct {
    int64_t id; /* what sluice_post() returned */
    uint64_t tag;
    uint32_t source;
    uint32_t destination;
    uint64_t bytes;
    int64_t posted_ps;  /* the network's time as it was posted */
    int64_t started_ps; /* its queue pair came to it; of an arrival: -1 */
    int64_t
        finished_ps; /* the last acknowledgement reached the source; of an arrival: the last byte its destination */
} sluice_completion;

enum {
    SLUICE_ARRIVED = 1,  /* the last byte is at the destination */
    SLUICE_COMPLETED = 2 /* the last acknowledgement is at the source: it is over */
};

typedef struct {
    int32_t kind; /* SLUICE_ARRIVED or SLUICE_COMPLETED */
    sluice_completion completion;
} sluice_event;

/*
 * Opens the network of a scenario file (docs/scenario.md). `overrides` are "key=value", as after --set, with a NULL behind
 * the last one; NULL: none. [workload] may be left out. If there is one, it runs beside what is posted, and is not
 * reported. Every packet is simulated: mode is "packet" or left out. Returns NULL if it fails.
 */
SLUICE_API sluice_network* sluice_open(const char* scenario_path, const char* const* overrides);
/* The same from the text of a scenario; messages call it `name`. Files that it names are looked for beside that. */
SLUICE_API sluice_network* sluice_open_text(const char* toml, const char* name,
                                            const char* const* overrides);
/* Nothing if it is NULL or closed. A few bytes stay, so that further calls with it can be refused. */
SLUICE_API void sluice_close(sluice_network* network);

/* Why the calling thread's last call that failed has failed, one line; "" if none has. Valid up to its next failure. */
SLUICE_API const char* sluice_last_error(void);
/* Of the library: "0.1.0 (COMMIT)". */
SLUICE_API const char* sluice_version(void);

/* 0 if it fails. */
SLUICE_API uint32_t sluice_hosts(const sluice_network* network);
/* The network's time; -1 if it fails. */
SLUICE_API int64_t sluice_now(const sluice_network* network);

/*
 * From a post to its effect at the NIC, 0 unless it is set; for later posts. Returns 0, or -1 if it is negative.
 */
SLUICE_API int sluice_set_doorbell_latency(sluice_network* network, int64_t latency_ps);

/*
 * Posts a transfer. It takes effect at the later one of now and not_before_ps, plus the doorbell latency, to the picosecond
 * as if it had been known before the run. One thing comes between: after sluice_next_event() or
 * sluice_next_completion() has returned 1, everything that happens at that instant has happened, so that the earliest effect is
 * one picosecond later. Returns its id, 0 for the network's first one, 1 for the next, or -1.
 */
SLUICE_API int64_t sluice_post(sluice_network* network, const sluice_transfer* transfer);

/*
 * Lets time pass up to `until_ps`, which is now afterwards; what happens at that instant is still to come. Completions on
 * the way are kept for sluice_next_completion(). Returns 0, or -1.
 */
SLUICE_API int sluice_advance(sluice_network* network, int64_t until_ps);

/*
 * Lets time pass up to the next completion, but not beyond `until_ps`. Returns
 *   1: *out is one. Its instant is now, unless it was passed by sluice_advance();
 *   0: there is none before until_ps, which is now. With SLUICE_FOREVER: nothing that was posted is outstanding, and
 *      no time has passed, or the scenario's stop has come;
 *  -1: it has failed.
 * Completions come in the order of time, those of one instant in the order of posts.
 */
SLUICE_API int sluice_next_completion(sluice_network* network, int64_t until_ps,
                                      sluice_completion* out);

/* From here on sluice_next_event() also returns arrivals, and sluice_next_completion() skips them. Returns 0, or -1. */
SLUICE_API int sluice_watch_arrivals(sluice_network* network);
/* As sluice_next_completion(), for whatever is watched. */
SLUICE_API int sluice_next_event(sluice_network* network, int64_t until_ps, sluice_event* out);

#ifdef __cplusplus
}
#endif
