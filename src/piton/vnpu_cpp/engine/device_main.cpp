/*
 * vnpu-device: the process that is the virtual NPU.
 * usage: vnpu-device MEMFD PARENT_FD HOST_FD DEVICE_LIBRARY [RING_FD CONTROL_FD]    (descriptors are inherited; see device/server.h)
 * With the last two, device code is in a process of its own (code/main.cpp), and this one never loads the library.
 */
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "device/server.h"
#include "device/signals.h"

namespace {

// A host that sends half a message must not stop the device; after this long it counts as gone.
void bound_waiting(int host_fd) {
    const timeval limit = {5, 0};
    setsockopt(host_fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(host_fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

int serve(int argc, char **argv) {
    const int memfd = std::atoi(argv[1]), parent_fd = std::atoi(argv[2]), host_fd = std::atoi(argv[3]);
    bound_waiting(host_fd);
    std::signal(SIGPIPE, SIG_IGN);  // a host that is gone is found by the failed write; it must not take the device with it
    vnpu::device::report_signals_to(parent_fd, argv[4]);
    vnpu::device::Server server(memfd, parent_fd, host_fd, argv[4]);
    if (argc == 7) server.run_code_elsewhere(std::atoi(argv[5]), std::atoi(argv[6]));
    server.serve();
    return 0;
}

}  // namespace

int main(int argc, char **argv) {
    if (argc != 5 && argc != 7) {
        std::fprintf(stderr, "usage: vnpu-device MEMFD PARENT_FD HOST_FD DEVICE_LIBRARY [RING_FD CONTROL_FD]\n");
        return 2;
    }
    prctl(PR_SET_DUMPABLE, 0);  // closes /proc/<pid>/mem and /proc/<pid>/fd to a host process that runs as the same user
    try {
        return serve(argc, argv);
    } catch (const std::exception &error) {
        std::fprintf(stderr, "vnpu-device: %s\n", error.what());
        return 1;
    }
}
