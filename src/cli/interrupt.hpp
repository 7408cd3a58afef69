// Ctrl-C: a flag that long work looks at between its steps.
#pragma once

namespace fuseline::cli {

// From now on the first SIGINT or SIGTERM sets the flag; the second ends the process at once.
void catch_interrupts();
bool interrupted();
// Throws Error of the kind `interrupted` when the flag is set.
void stop_if_interrupted();

}  // namespace fuseline::cli
