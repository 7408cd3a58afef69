// docs/cli.md is what --help prints, and docs/environment.md is the table of variables.
#include "base/env.hpp"
#include "cli/support.hpp"

namespace fuseline::test {
namespace {

class Docs : public CliTest {
 protected:
  std::string help(std::vector<std::string> words) const {
    words.push_back("--help");
    Outcome outcome = run(words);
    EXPECT_EQ(outcome.code, 0);
    EXPECT_NE(outcome.out, "");
    std::istringstream lines(outcome.out);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
    return outcome.out;
  }

  // With FUSELINE_TEST_WRITE=1 the file is written anew instead.
  static void expect_document(const std::string& name, const std::string& text) {
    std::filesystem::path path = FUSELINE_SOURCE_DIR "/docs/" + name;
    if (std::getenv("FUSELINE_TEST_WRITE")) std::ofstream(path) << text;
    std::ifstream in(path);
    std::stringstream written;
    written << in.rdbuf();
    EXPECT_EQ(written.str(), text)
        << "docs/" << name << " is stale; run again with FUSELINE_TEST_WRITE=1";
  }
};

TEST_F(Docs, CommandLine) {
  const std::vector<std::vector<std::string>> commands = {
      {},
      {"mask"},
      {"run"},
      {"inspect"},
      {"verify"},
      {"compile"},
      {"explain"},
      {"explain", "mask"},
      {"kernel"},
      {"kernel", "spec"},
      {"kernel", "check"},
      {"bench"},
      {"compare"},
      {"diagnose"},
      {"ledger"},
      {"ledger", "list"},
      {"ledger", "show"},
      {"ledger", "history"},
      {"ledger", "export"},
      {"ledger", "prune"},
      {"info"},
      {"cache"},
      {"cache", "stats"},
      {"cache", "clear"}};
  std::string text =
      "# The command line\n\n"
      "Exit codes: 0 fine; 1 some files of a batch failed, or a gate found something slower; 2 bad "
      "usage or\ninput; 3 a device or library is missing; 4 a gate was inconclusive; 70 an internal "
      "error; 130\ninterrupted. Errors are one line on stderr, `fuseline: error: ...`.\n"
      "With `--json` a command prints one JSON value on stdout and nothing else there.\n";
  for (const auto& words : commands) {
    std::string name = "fuseline";
    for (const std::string& word : words) name += " " + word;
    text += "\n## " + name + "\n\n```\n" + help(words) + "```\n";
  }
  expect_document("cli.md", text);
}

TEST_F(Docs, Environment) {
  std::string text =
      "# Environment variables\n\n"
      "All that Fuseline reads. An empty variable counts as not set.\n\n"
      "| Variable | Default | Meaning |\n| --- | --- | --- |\n";
  for (const EnvRow& row : env_table())
    text += "| `" + std::string(row.name) + "` | " + std::string(row.fallback) + " | " +
            std::string(row.meaning) + " |\n";
  expect_document("environment.md", text);
}

}  // namespace
}  // namespace fuseline::test
