// SPDX-License-Identifier: Apache-2.0
/// What ASTRA-sim's network interface declares, as far as this example uses it: in place of ASTRA-sim's own header of this name
/// where that is not there (-DASTRA_SIM=<its folder>).
#pragma once

#include <cstdint>

namespace AstraSim {

enum time_type_e { SE = 0, MS, US, NS, FS };

struct timespec_t {
    time_type_e time_res;
    long double time_val;
};

struct sim_request;

class AstraNetworkAPI {
  public:
    using Handler = void (*)(void* fun_arg);

    explicit AstraNetworkAPI(int given) : rank(given) {}
    virtual ~AstraNetworkAPI() = default;

    virtual int sim_send(void* buffer, uint64_t count, int type, int dst, int tag,
                         sim_request* request, Handler msg_handler, void* fun_arg) = 0;
    virtual int sim_recv(void* buffer, uint64_t count, int type, int src, int tag,
                         sim_request* request, Handler msg_handler, void* fun_arg) = 0;
    virtual void sim_schedule(timespec_t delta, Handler fun_ptr, void* fun_arg) = 0;
    virtual timespec_t sim_get_time() = 0;
    virtual int sim_comm_get_rank() { return rank; }

    int rank;
};

}  // namespace AstraSim
