/* Holds a pod's namespaces: sleeps, reaps orphaned processes, and ends on a signal. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static void end(int signal) { _exit(0); }

static void reap(int signal) {
  while (waitpid(-1, 0, WNOHANG) > 0) {
  }
}

int main(void) {
  struct sigaction ends = {.sa_handler = end};
  struct sigaction reaps = {.sa_handler = reap, .sa_flags = SA_NOCLDSTOP};
  sigaction(SIGINT, &ends, 0);
  sigaction(SIGTERM, &ends, 0);
  sigaction(SIGCHLD, &reaps, 0);
  for (;;) pause();
}
