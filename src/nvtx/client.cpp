// The program's end of NVTX, without NVIDIA's header.
#include "nvtx/client.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <memory>
#include <mutex>

#include "base/env.hpp"
#include "base/fail.hpp"
#include "base/log.hpp"

namespace fuseline::nvtx {
namespace {

// The protocol's functions carry no pointer to a client: this is the one that a tool asks, while it
// is initialized and later.
std::mutex initializing;
Client* asked = nullptr;

void ignore_version(std::uint32_t) {}

std::unique_ptr<Client> open_tool() {
  auto path = env(EnvVar::nvtx_injection);
  if (!path) return nullptr;
  try {
    return std::make_unique<Client>(path->c_str());
  } catch (const Error& error) {
    log_warn("{}: {}; no NVTX ranges are emitted", name_of(EnvVar::nvtx_injection), error.what());
    return nullptr;
  }
}

}  // namespace

Client::Client(const char* library) {
  for (unsigned module = 1; module < modules; ++module) {
    static_assert(*std::max_element(places, places + modules) <= most_places);
    for (unsigned place = 1; place < places[module]; ++place)
      addresses_[module][place] = &functions_[module][place];
  }
  void* tool = dlopen(library, RTLD_NOW | RTLD_LOCAL);  // for the rest of the process
  if (!tool) fail("the tool cannot be loaded: {}", dlerror());
  auto* initialize = reinterpret_cast<InitializeTool*>(dlsym(tool, initialize_tool));
  if (!initialize) fail("{} is no tool for NVTX: it has no {}", library, initialize_tool);
  std::lock_guard lock(initializing);
  Client* before = asked;
  asked = this;
  if (!initialize(&table_of)) {
    asked = before;
    fail("{} declines", library);
  }
  if (auto* create = at<DomainCreateA>(core2, domain_create_a)) domain_ = create("Fuseline");
}

const void* Client::table_of(std::uint32_t id) {
  static constexpr CallbackTable callbacks = {sizeof(CallbackTable), &functions_of};
  static constexpr VersionTable versions = {sizeof(VersionTable), version, 0, &ignore_version};
  if (id == table_callbacks) return &callbacks;
  return id == table_version ? &versions : nullptr;
}

int Client::functions_of(Module module, FunctionTable* table, unsigned* count) {
  if (!asked || module == 0 || module >= modules) return 0;
  if (table) *table = asked->addresses_[module];
  if (count) *count = places[module];
  return 1;
}

void Client::push(const std::string& name) const {
  auto* begin = at<DomainRangePushEx>(core2, domain_range_push_ex);
  if (!begin) return;
  Attributes attributes = {};
  attributes.version = version;
  attributes.size = sizeof(Attributes);
  attributes.message_type = message_ascii;
  attributes.message = name.c_str();
  begin(domain_, &attributes);
}

void Client::pop() const {
  if (auto* end = at<DomainRangePop>(core2, domain_range_pop)) end(domain_);
}

const Client* attached() {
  static const std::unique_ptr<Client> client = open_tool();
  return client.get();
}

}  // namespace fuseline::nvtx
