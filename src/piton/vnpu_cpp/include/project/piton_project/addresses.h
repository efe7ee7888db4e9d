/* What a generated entry is handed: one address per tensor, workspace and tiling data. The same for host and device. */
#ifndef PITON_PROJECT_ADDRESSES_H
#define PITON_PROJECT_ADDRESSES_H

#include <cstddef>

namespace piton_project {

template <std::size_t N>
struct Addresses {
    void *at[N];
};

}  // namespace piton_project

#endif /* PITON_PROJECT_ADDRESSES_H */
