// Ctrl-C: no half-written files, exit code 130, and what was done is told.
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "cli/support.hpp"

namespace fuseline::test {
namespace {

using namespace std::chrono_literals;

class Interrupt : public CliTest {
 protected:
  // Starts the program in the background; its process id.
  pid_t start(const std::vector<std::string>& words) const {
    std::vector<std::string> all = {program()};
    all.insert(all.end(), words.begin(), words.end());
    std::vector<char*> pointers;
    for (std::string& word : all) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, path("out.json").c_str(), O_WRONLY | O_CREAT,
                                     0600);
    posix_spawn_file_actions_addopen(&actions, 2, path("err.txt").c_str(), O_WRONLY | O_CREAT,
                                     0600);
    pid_t child = -1;
    EXPECT_EQ(posix_spawn(&child, all[0].c_str(), &actions, nullptr, pointers.data(), environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    return child;
  }
};

TEST_F(Interrupt, BatchStopsCleanly) {
  constexpr int count = 200;
  Bytes picture = make_png(noise(std::size_t{3} * 700 * 700), 700, 700, {});
  file("pictures/0.png", picture);
  for (int i = 1; i < count; ++i)
    std::filesystem::create_hard_link(path("pictures/0.png"),
                                      path("pictures/" + std::to_string(i) + ".png"));
  pid_t child = start({"mask", path("pictures"), "-o", path("masks"), "--json"});
  // Once the first masks are there.
  for (int i = 0; i < 3000 && !std::filesystem::exists(path("masks")); ++i)
    std::this_thread::sleep_for(10ms);
  ::kill(child, SIGINT);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 130);
  Bytes err = bytes_of(path("err.txt")), out = bytes_of(path("out.json"));
  EXPECT_THAT(std::string(err.begin(), err.end()), testing::HasSubstr("interrupted: "));
  nlohmann::json json = nlohmann::json::parse(out.begin(), out.end(), nullptr, false);
  ASSERT_FALSE(json.is_discarded());
  EXPECT_LT(json["images"].size(), static_cast<std::size_t>(count));
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(path("masks"))) {
    EXPECT_EQ(read_image(entry.path()).width(), 700);  // complete, no leftovers
    ++files;
  }
  EXPECT_EQ(files, json["images"].size());
}

}  // namespace
}  // namespace fuseline::test
