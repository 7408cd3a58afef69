// Compares our words for NVTX with the official header, where the toolkit has it.
#include <nvtx3/nvToolsExt.h>

#include <cstddef>

#include "nvtx/protocol.hpp"

namespace fuseline::nvtx {

// Of two enumerations, or of one and a number.
template <class A, class B>
constexpr bool same(A a, B b) {
  return static_cast<long long>(a) == static_cast<long long>(b);
}

static_assert(same(core, NVTX_CB_MODULE_CORE) && same(cuda, NVTX_CB_MODULE_CUDA) &&
              same(opencl, NVTX_CB_MODULE_OPENCL) && same(cuda_runtime, NVTX_CB_MODULE_CUDART) &&
              same(core2, NVTX_CB_MODULE_CORE2) && same(sync, NVTX_CB_MODULE_SYNC) &&
              same(modules, NVTX_CB_MODULE_SIZE));
static_assert(same(places[core], NVTX_CBID_CORE_SIZE) && same(places[cuda], NVTX_CBID_CUDA_SIZE) &&
              same(places[opencl], NVTX_CBID_OPENCL_SIZE) &&
              same(places[cuda_runtime], NVTX_CBID_CUDART_SIZE) &&
              same(places[core2], NVTX_CBID_CORE2_SIZE) && same(places[sync], NVTX_CBID_SYNC_SIZE));

static_assert(same(range_start_ex, NVTX_CBID_CORE_RangeStartEx) &&
              same(range_start_a, NVTX_CBID_CORE_RangeStartA) &&
              same(range_start_w, NVTX_CBID_CORE_RangeStartW) &&
              same(range_end, NVTX_CBID_CORE_RangeEnd) &&
              same(range_push_ex, NVTX_CBID_CORE_RangePushEx) &&
              same(range_push_a, NVTX_CBID_CORE_RangePushA) &&
              same(range_push_w, NVTX_CBID_CORE_RangePushW) &&
              same(range_pop, NVTX_CBID_CORE_RangePop));
static_assert(same(domain_range_start_ex, NVTX_CBID_CORE2_DomainRangeStartEx) &&
              same(domain_range_end, NVTX_CBID_CORE2_DomainRangeEnd) &&
              same(domain_range_push_ex, NVTX_CBID_CORE2_DomainRangePushEx) &&
              same(domain_range_pop, NVTX_CBID_CORE2_DomainRangePop) &&
              same(domain_register_string_a, NVTX_CBID_CORE2_DomainRegisterStringA) &&
              same(domain_register_string_w, NVTX_CBID_CORE2_DomainRegisterStringW) &&
              same(domain_create_a, NVTX_CBID_CORE2_DomainCreateA) &&
              same(domain_create_w, NVTX_CBID_CORE2_DomainCreateW) &&
              same(domain_destroy, NVTX_CBID_CORE2_DomainDestroy));

using Official = nvtxEventAttributes_t;
static_assert(same(sizeof(Attributes), sizeof(Official)) &&
              same(offsetof(Attributes, version), offsetof(Official, version)) &&
              same(offsetof(Attributes, size), offsetof(Official, size)) &&
              same(offsetof(Attributes, category), offsetof(Official, category)) &&
              same(offsetof(Attributes, color), offsetof(Official, color)) &&
              same(offsetof(Attributes, payload), offsetof(Official, payload)) &&
              same(offsetof(Attributes, message_type), offsetof(Official, messageType)) &&
              same(offsetof(Attributes, message), offsetof(Official, message)));
static_assert(same(message_ascii, NVTX_MESSAGE_TYPE_ASCII) &&
              same(message_unicode, NVTX_MESSAGE_TYPE_UNICODE) &&
              same(message_registered, NVTX_MESSAGE_TYPE_REGISTERED));
static_assert(same(version, NVTX_VERSION) && same(no_tracking, NVTX_NO_PUSH_POP_TRACKING) &&
              same(sizeof(RangeId), sizeof(nvtxRangeId_t)));

static_assert(same(table_callbacks, NVTX_ETID_CALLBACKS) &&
              same(table_version, NVTX_ETID_VERSIONINFO));
static_assert(same(sizeof(CallbackTable), sizeof(NvtxExportTableCallbacks)) &&
              same(offsetof(CallbackTable, functions_of),
                   offsetof(NvtxExportTableCallbacks, GetModuleFunctionTable)));
static_assert(same(sizeof(VersionTable), sizeof(NvtxExportTableVersionInfo)) &&
              same(offsetof(VersionTable, version),
                   offsetof(NvtxExportTableVersionInfo, version)) &&
              same(offsetof(VersionTable, set_tool_version),
                   offsetof(NvtxExportTableVersionInfo, SetInjectionNvtxVersion)));

}  // namespace fuseline::nvtx
