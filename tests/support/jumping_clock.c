/* SPDX-License-Identifier: Apache-2.0 */
/* Preloaded, a steady clock that jumps ahead by up to a second whenever it is asked: what a program would see on a
   machine that is busy at the worst of instants. $JUMPING_CLOCK_SEED draws other jumps. Clocks of processor time and of
   the day stay. */
#define _GNU_SOURCE
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static _Atomic uint64_t draws;
static _Atomic int64_t ahead; /* ns */

__attribute__((constructor)) static void seed(void) {
    const char* text = getenv("JUMPING_CLOCK_SEED");
    atomic_store(&draws, text ? strtoull(text, NULL, 10) << 32 : 0);
}

/* splitmix64 */
static uint64_t mixed(uint64_t x) {
    x += UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return x ^ (x >> 31);
}

/* Half of the jumps are of less than 33 us: the logarithm is uniform, so that rates differ by any factor. */
static int64_t jump(void) {
    const uint64_t drawn = mixed(atomic_fetch_add(&draws, 1));
    const int64_t most = INT64_C(1) << (drawn % 31);
    return (int64_t)((drawn >> 8) % (uint64_t)most);
}

int clock_gettime(clockid_t clock, struct timespec* time) {
    const int result = (int)syscall(SYS_clock_gettime, clock, time);
    if (result == 0 && clock == CLOCK_MONOTONIC) {
        const int64_t by = jump();
        const int64_t offset = atomic_fetch_add(&ahead, by) + by;
        time->tv_sec += offset / 1000000000;
        time->tv_nsec += offset % 1000000000;
        if (time->tv_nsec >= 1000000000) {
            time->tv_nsec -= 1000000000;
            ++time->tv_sec;
        }
    }
    return result;
}
