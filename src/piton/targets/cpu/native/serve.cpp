#include "serve.h"

#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <exception>

namespace piton::serve {
namespace {

constexpr std::int64_t kBatch = 1;
constexpr std::int64_t kDone = 0;
constexpr std::int64_t kThrown = 1;
constexpr std::size_t kTextBytes = 2000;
/// Stands for an optional tensor that the case leaves out; offsets are kept one higher, so that null is free for it.
constexpr std::int64_t kAbsent = -1;

[[noreturn]] void Leave(const char *what) {
    std::perror(what);
    std::_Exit(70);
}

/// Receives one message of words: their number, then the words. False at the end of the stream.
bool Receive(int channel, std::vector<std::int64_t> &words) {
    const auto exactly = [channel](void *place, std::size_t bytes) {
        auto *next = static_cast<char *>(place);
        while (bytes > 0) {
            const ssize_t got = recv(channel, next, bytes, 0);
            if (got < 0 && errno == EINTR) {
                continue;
            }
            if (got <= 0) {
                return false;
            }
            next += got;
            bytes -= static_cast<std::size_t>(got);
        }
        return true;
    };
    std::int64_t count = 0;
    if (!exactly(&count, sizeof(count))) {
        return false;
    }
    words.resize(static_cast<std::size_t>(count));
    return exactly(words.data(), words.size() * sizeof(std::int64_t));
}

void Send(int channel, std::int64_t status, const std::string &text) {
    const std::string kept = text.substr(0, kTextBytes);
    std::int64_t head[2] = {status, static_cast<std::int64_t>(kept.size())};
    std::string message(reinterpret_cast<const char *>(head), sizeof(head));
    message += kept;
    if (send(channel, message.data(), message.size(), MSG_NOSIGNAL) < 0) {
        Leave("send");
    }
}

struct Shared {
    int inputs;
    int outputs;
    std::int64_t input_stride;
    std::int64_t output_stride;
    const char *input_base;
    char *output_base;
};

void Map(Shared &shared, std::int64_t slots) {
    const auto input_bytes = static_cast<std::size_t>(shared.input_stride * slots);
    const auto output_bytes = static_cast<std::size_t>(shared.output_stride * slots);
    void *in = mmap(nullptr, input_bytes, PROT_READ, MAP_SHARED, shared.inputs, 0);
    void *out = mmap(nullptr, output_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, shared.outputs, 0);
    if (in == MAP_FAILED || out == MAP_FAILED) {
        Leave("mmap");
    }
    shared.input_base = static_cast<const char *>(in);
    shared.output_base = static_cast<char *>(out);
}

void Unmap(const Shared &shared, std::int64_t slots) {
    munmap(const_cast<char *>(shared.input_base), static_cast<std::size_t>(shared.input_stride * slots));
    munmap(shared.output_base, static_cast<std::size_t>(shared.output_stride * slots));
}

void Run(const Shared &shared, const std::vector<std::int64_t> &words) {
    for (std::size_t index = 1; index < words.size(); ++index) {
        const std::int64_t slot = words[index];
        Call(Place{shared.input_base + slot * shared.input_stride, shared.output_base + slot * shared.output_stride});
    }
}

const char *Offset(const void *bound) { return static_cast<const char *>(bound); }

}  // namespace

double Words::Real() {
    const std::int64_t word = Integer();
    double value;
    std::memcpy(&value, &word, sizeof(value));
    return value;
}

std::string Words::Text() {
    const auto bytes = static_cast<std::size_t>(Integer());
    std::string text(bytes, '\0');
    const std::size_t used = (bytes + sizeof(std::int64_t) - 1) / sizeof(std::int64_t);
    if (used > 0) {
        std::memcpy(text.data(), &words_.at(at_ + used - 1) - (used - 1), bytes);
    }
    at_ += used;
    return text;
}

Ints Words::Integers() {
    const std::int64_t count = Integer();
    Ints made;
    made.is_given = count >= 0;
    made.count = count < 0 ? 0 : count;
    made.items = words_.data() + at_;
    at_ += static_cast<std::size_t>(made.count);
    return made;
}

Reals Words::RealList() {
    const Ints words = Integers();
    Reals made;
    made.is_given = words.is_given;
    made.count = words.count;
    made.items = reinterpret_cast<const double *>(words.items);
    return made;
}

void Words::Describe(Described &made) {
    made.dtype = static_cast<DType>(Integer());
    made.shape = Integers();
    made.elements = 1;
    for (const std::int64_t extent : made.shape) {
        made.elements *= extent;
    }
}

Tensor Words::Input() {
    Tensor made;
    const std::int64_t offset = Integer();
    if (offset != kAbsent) {
        made.memory = reinterpret_cast<const void *>(offset + 1);
        Describe(made);
    }
    return made;
}

Output Words::Result() {
    Output made;
    made.memory = reinterpret_cast<void *>(Integer() + 1);
    Describe(made);
    return made;
}

Tensors Words::Inputs() {
    Tensors made;
    for (std::int64_t left = Integer(); left > 0; --left) {
        made.push_back(Input());
    }
    return made;
}

Outputs Words::Results() {
    Outputs made;
    for (std::int64_t left = Integer(); left > 0; --left) {
        made.push_back(Result());
    }
    return made;
}

Tensor Place::At(const Tensor &bound) const {
    Tensor moved = bound;
    if (bound) {
        moved.memory = inputs + (reinterpret_cast<std::intptr_t>(Offset(bound.memory)) - 1);
    }
    return moved;
}

Output Place::At(const Output &bound) const {
    Output moved = bound;
    moved.memory = outputs + (reinterpret_cast<std::intptr_t>(Offset(bound.memory)) - 1);
    return moved;
}

Tensors Place::At(const Tensors &bound) const {
    Tensors moved;
    moved.reserve(bound.size());
    for (const Tensor &item : bound) {
        moved.push_back(At(item));
    }
    return moved;
}

Outputs Place::At(const Outputs &bound) const {
    Outputs moved;
    moved.reserve(bound.size());
    for (const Output &item : bound) {
        moved.push_back(At(item));
    }
    return moved;
}

/// Answers until the parent closes the channel. The arguments of a case stay where they are until the next case: lists point into them.
int Serve(int channel, Shared shared) {
    std::vector<std::int64_t> message;
    std::vector<std::int64_t> bound;
    std::int64_t slots = 0;
    while (Receive(channel, message)) {
        std::int64_t status = kDone;
        std::string text;
        try {
            if (message.at(0) == kBatch) {
                Run(shared, message);
            } else {
                if (slots > 0) {
                    Unmap(shared, slots);
                }
                shared.input_stride = message.at(1);
                shared.output_stride = message.at(2);
                slots = message.at(3);
                Map(shared, slots);
                bound.assign(message.begin() + 4, message.end());
                Words words(bound);
                Bind(words);
            }
        } catch (const std::exception &error) {
            status = kThrown;
            text = error.what();
        } catch (...) {
            status = kThrown;
            text = "something that is no std::exception was thrown";
        }
        Send(channel, status, text);
    }
    return 0;
}

}  // namespace piton::serve

int main(int count, char **words) {
    if (count != 4) {
        std::fputs("usage: kernel CHANNEL INPUTS OUTPUTS (descriptors)\n", stderr);
        return 64;
    }
    piton::serve::Shared shared{};
    shared.inputs = std::atoi(words[2]);
    shared.outputs = std::atoi(words[3]);
    return piton::serve::Serve(std::atoi(words[1]), shared);
}
