/* A program with NVIDIA's own header: every kind of range, with sleeps of known length. */
#include <nvtx3/nvToolsExt.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

static void sleep_ms(long ms) {
  struct timespec time = {0, ms * 1000000};
  nanosleep(&time, NULL);
}

static nvtxEventAttributes_t attributes_of(int32_t type) {
  nvtxEventAttributes_t attributes;
  memset(&attributes, 0, sizeof attributes);
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = type;
  return attributes;
}

static void* end_elsewhere(void* id) {
  sleep_ms(10);
  nvtxRangeEnd(*(nvtxRangeId_t*)id);
  return NULL;
}

int main(void) {
  nvtxEventAttributes_t plain = attributes_of(NVTX_MESSAGE_TYPE_ASCII);
  nvtxEventAttributes_t registered = attributes_of(NVTX_MESSAGE_TYPE_REGISTERED);
  nvtxDomainHandle_t domain = nvtxDomainCreateA("codec");
  nvtxRangeId_t id;
  pthread_t thread;

  nvtxRangePushA("decode");
  sleep_ms(20);
  plain.message.ascii = "inner";
  nvtxRangePushEx(&plain);
  sleep_ms(10);
  nvtxRangePop();
  nvtxRangePop();

  registered.message.registered = nvtxDomainRegisterStringA(domain, "encode");
  nvtxDomainRangePushEx(domain, &registered);
  sleep_ms(15);
  nvtxDomainRangePop(domain);
  nvtxDomainDestroy(domain);

  id = nvtxRangeStartW(L"caf\u00e9");
  if (pthread_create(&thread, NULL, end_elsewhere, &id) != 0) return 1;
  pthread_join(thread, NULL);
  nvtxMarkA("an instant is no range");
  return 0;
}
