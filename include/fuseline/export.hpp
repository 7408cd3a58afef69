// Symbol visibility of the public API.
#pragma once

#define FUSELINE_API __attribute__((visibility("default")))
