/*
 * piton-code: the process that runs device code when the engine has a process of its own.
 * usage: piton-code RING_FD CONTROL_FD PARENT_FD DEVICE_LIBRARY    (descriptors are inherited; see ring.h)
 */
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include <sys/prctl.h>

#include "blocks.h"
#include "device/signals.h"
#include "filter.h"
#include "pages.h"
#include "ring.h"
#include "wire.h"

namespace vnpu::code {

extern const char *library_path;

namespace {

[[noreturn]] void serve(char **argv) {
    const int ring_fd = std::atoi(argv[1]), control_fd = std::atoi(argv[2]), parent_fd = std::atoi(argv[3]);
    library_path = argv[4];
    std::signal(SIGPIPE, SIG_IGN);
    device::report_signals_to(parent_fd, argv[4]);
    device::try_again_when(provide_page);
    reserve_device_addresses();
    open_ring(ring_fd, control_fd);
    if (!wire::send(parent_fd, wire::Type::Ready, wire::Writer().put(wire::kVersion).body())) std::exit(1);
    filter_system_calls();
    run_commands(argv[4]);
}

}  // namespace

}  // namespace vnpu::code

int main(int argc, char **argv) {
    if (argc != 5) {
        std::fprintf(stderr, "usage: piton-code RING_FD CONTROL_FD PARENT_FD DEVICE_LIBRARY\n");
        return 2;
    }
    prctl(PR_SET_DUMPABLE, 0);
    try {
        vnpu::code::serve(argv);
    } catch (const std::exception &error) {
        std::fprintf(stderr, "piton-code: %s\n", error.what());
        return 1;
    }
}
