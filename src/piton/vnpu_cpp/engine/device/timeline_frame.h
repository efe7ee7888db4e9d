/* The timeline of a launch as bytes for the parent; piton.targets.vnpu.timeline_frame reads them. */
#pragma once

#include <string>

#include "../timeline.h"

namespace vnpu::device {

std::string timeline_frame(const LaunchTimeline &timeline);

}  // namespace vnpu::device
