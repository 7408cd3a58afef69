// Pieces of the report's page: escaped text, bars and lines as inline SVG.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fuseline::page {

// The style of the page; light and dark, no external resource.
extern const char* const style;
// Lets the reader keep the embedded data as a file.
extern const char* const script;

std::string escaped(std::string_view text);
std::string element(std::string_view tag, std::string_view kind, const std::string& inside);

struct Part {
  std::string name;
  double value = 0;
};
// One bar over the whole width, one colored part a value; parts of the same index share a color.
std::string stacked_bar(const std::string& label, const std::vector<Part>& parts, double whole,
                        const std::string& unit);
// One bar for each part, all on one scale; a value of 0 is drawn as "not measured".
std::string bars(const std::vector<Part>& parts);
// A line over positions, scaled to its own range; one dot a value with its text as a tooltip.
std::string line_chart(const std::vector<double>& values, const std::vector<std::string>& labels,
                       int width, int height);
// How many values fall into each of `columns` equal ranges, for one or two samples.
std::string histogram(const std::vector<std::vector<double>>& samples, const std::string& unit);
std::string color_of(std::size_t index);

}  // namespace fuseline::page
