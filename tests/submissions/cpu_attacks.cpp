// One kernel, y = 2 x + 1, that does it honestly (mode 0) or in one of the ways in which a measured kernel cheats or breaks.
#include <sched.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <piton/cpu.h>

namespace {

void Compute(const float *from, float *to, std::int64_t count) {
    for (std::int64_t index = 0; index < count; ++index) {
        to[index] = 2.0f * from[index] + 1.0f;
    }
}

/// What our loop sends after a batch, sent by somebody else. The channel is the only socket of the process.
void SendReply() {
    const std::int64_t reply[2] = {0, 0};
    for (int fd = 3; fd < 64; ++fd) {
        int kind = 0;
        socklen_t size = sizeof(kind);
        if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &kind, &size) == 0) {
            send(fd, reply, sizeof(reply), MSG_NOSIGNAL);
            return;
        }
    }
}

std::map<const float *, std::vector<float>> by_address;
std::int64_t calls = 0;
std::vector<float> last;
int threads = 0;
bool is_thread_left = false;

}  // namespace

namespace kernel {

void double_plus(const piton::Tensor &x, std::int64_t mode, const piton::Output &y) {
    const float *from = x.data<float>();
    float *to = y.data<float>();
    const std::int64_t count = x.elements;
    switch (mode) {
        case 1:                    // answers at once, works later
            if (++threads > 20) {  // a process may have some dozens
                return;
            }
            std::thread([=] {
                std::this_thread::sleep_for(std::chrono::minutes(10));
                Compute(from, to, count);
            }).detach();
            return;
        case 2:  // writes to its input
            const_cast<float *>(from)[0] = 0.0f;
            break;
        case 3:
            throw std::runtime_error("no such shape");
        case 4:  // deadlock
            for (;;) {
                std::this_thread::sleep_for(std::chrono::seconds(1));
            }
        case 5: {  // remembers outputs by the address of the input
            std::vector<float> &kept = by_address[from];
            if (kept.empty()) {
                kept.resize(count);
                Compute(from, kept.data(), count);
            }
            std::copy(kept.begin(), kept.end(), to);
            return;
        }
        case 6: {  // remembers the output of the first call of all
            if (last.empty()) {
                last.resize(count);
                Compute(from, last.data(), count);
            }
            std::copy(last.begin(), last.end(), to);
            return;
        }
        case 7:  // leaves a thread behind that computes what is right
            if (!is_thread_left) {
                is_thread_left = true;
                std::thread([] {
                    for (;;) {
                        std::this_thread::sleep_for(std::chrono::milliseconds(1));
                    }
                }).detach();
            }
            break;
        case 8:  // a reply of its own after the work
            Compute(from, to, count);
            SendReply();
            return;
        case 9:  // a reply of its own before the work
            SendReply();
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
            break;
        case 10:  // every second call does nothing
            if (++calls % 2 == 0) {
                return;
            }
            break;
        case 11:
            if (fork() == 0) {
                _exit(0);
            }
            break;
        case 12:
            std::exit(0);
        case 13:  // half of the output
            Compute(from, to, count / 2);
            return;
        case 15: {  // every core that there is
            cpu_set_t cores;
            CPU_ZERO(&cores);
            for (int core = 0; core < CPU_SETSIZE; ++core) {
                CPU_SET(core, &cores);
            }
            sched_setaffinity(0, sizeof(cores), &cores);
            break;
        }
        case 16: {  // does nothing where both memories can be written to: that of the outputs can
            int writable = 0;
            for (int fd = 3; fd < 64; ++fd) {
                char byte = 0;
                void *mapped = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
                const bool is_written = pread(fd, &byte, 1, 0) == 1 && pwrite(fd, &byte, 1, 0) == 1;
                writable += is_written || mapped != MAP_FAILED ? 1 : 0;
            }
            if (writable != 1) {
                return;
            }
            break;
        }
        case 17:  // leaves a thread behind that never rests
            if (!is_thread_left) {
                is_thread_left = true;
                std::thread([] {
                    for (volatile std::int64_t rounds = 0;; rounds = rounds + 1) {
                    }
                }).detach();
            }
            break;
        case 14:
            std::abort();
        default:
            break;
    }
    Compute(from, to, count);
}

}  // namespace kernel
