/* SPDX-License-Identifier: Apache-2.0 */
/* The program of docs/c-abi.md, as it stands there. */
#include <inttypes.h>
#include <sluice.h>
#include <stdio.h>

static const char scenario[] =
    "[topology]\n"
    "type = \"star\"\n"
    "hosts = 8\n"
    "[congestion]\n"
    "law = \"dcqcn\"\n";

int main(void) {
    sluice_network* network = sluice_open_text(scenario, "star.toml", NULL);
    if (network == NULL) {
        fprintf(stderr, "%s\n", sluice_last_error());
        return 1;
    }
    sluice_transfer request = {0};
    request.destination = 1;
    request.bytes = 1000000;
    request.not_before_ps = 5000000; /* 5 us */
    sluice_post(network, &request);

    sluice_completion done;
    while (sluice_next_completion(network, SLUICE_FOREVER, &done) == 1) {
        printf("%" PRIu32 " to %" PRIu32 ": %" PRId64 " to %" PRId64 " ps\n", done.source,
               done.destination, done.started_ps, done.finished_ps);
        if (done.source == 0) { /* host 1 answers after computing for 20 us */
            sluice_transfer answer = {0};
            answer.source = 1;
            answer.bytes = 4096;
            answer.not_before_ps = sluice_now(network) + 20000000;
            sluice_post(network, &answer);
        }
    }
    sluice_close(network);
    return 0;
}
