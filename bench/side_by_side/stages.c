/* A program whose stages are known: stages KIND:NAME:AMOUNT...
 * KIND is sleep or spin (AMOUNT in milliseconds) or work (AMOUNT loop steps, so that a busy
 * processor makes it longer). Without a NAME the stretch is not marked. */
#include "fuseline/stage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void sleep_until(double end) {
  struct timespec time;
  time.tv_sec = (time_t)end;
  time.tv_nsec = (long)((end - (double)time.tv_sec) * 1e9);
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) != 0) {
  }
}

static void pass(const char* kind, double amount) {
  double end = now() + amount * 1e-3;
  volatile double sum = 0;
  long step;
  if (strcmp(kind, "sleep") == 0) {
    sleep_until(end);
  } else if (strcmp(kind, "spin") == 0) {
    while (now() < end) {
    }
  } else {
    for (step = 0; step < (long)amount; ++step) sum = sum + 1.0 / (double)(step + 1);
  }
}

int main(int count, char** words) {
  int i;
  for (i = 1; i < count; ++i) {
    char* kind = strtok(words[i], ":");
    char* rest = kind + strlen(kind) + 1;
    char* colon = strchr(rest, ':');
    double amount = atof(colon + 1);
    *colon = 0;
    if (*rest) fuseline_stage_begin(rest);
    pass(kind, amount);
    if (*rest) fuseline_stage_end(rest);
  }
  return 0;
}
