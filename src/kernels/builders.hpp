// The builders of single operations.
#pragma once

#include "kernels/schedule.hpp"

namespace fuseline::kernels {

// Launches that leave the order of `keys` along an axis in `to`, of the keys' shape, i64. Buffers
// of the schedule's scratch memory are added.
void add_sort(Schedule& schedule, const Operand& keys, Argument from, Argument to, std::size_t axis,
              bool descending, const Target& target);

Schedule sort_schedule(const Request& request, const Target& target);
Schedule scan_schedule(const Request& request, const Target& target);
Schedule scatter_schedule(const Request& request, const Target& target);
Schedule suppress_schedule(const Request& request, const Target& target);
Schedule copy_schedule(const Request& request, const Target& target);

}  // namespace fuseline::kernels
