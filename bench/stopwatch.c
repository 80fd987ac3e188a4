// Starts processes and says how long each took and how much memory it had. A C program, because the
// one that measures must cost little itself: a child's peak memory counts from its parent's, and an
// interpreter between two runs would blow the caches of a process that lives for half a
// millisecond.
//
//   stopwatch alternate FIRST ROUNDS CMD… ::: CMD…   one run of each command in turn, ROUNDS times
//   stopwatch parallel  FIRST WORKERS EACH CMD…      WORKERS loops side by side, EACH runs in each
//   stopwatch stampede  FIRST COUNT CMD…             COUNT processes that all start at one signal
//
// `{n}` in a command becomes the number of the run, counted from FIRST, and `{w}` that of the loop.
// What commands print goes to /dev/null. One line a process: COMMAND NANOSECONDS PEAK_KIB
// EXIT_STATUS. parallel says one for all, with the number of runs that failed as the last.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char** environ;

enum { kCommandsMax = 16, kArgumentsMax = 32, kArgumentMax = 512, kProcessesMax = 1000 };
enum {
  kDied = 255,
  kEachMax = kDied - 1
};  // the status of a loop says how many of its runs failed

struct Command {
  char* words[kArgumentsMax + 1];           // as given
  char space[kArgumentsMax][kArgumentMax];  // with the run's number put in
  char* arguments[kArgumentsMax + 1];       // into `space`
};

static struct Command commands[kCommandsMax];
static posix_spawn_file_actions_t to_nowhere;

static void die(const char* what) {
  fprintf(stderr, "stopwatch: %s: %s\n", what, strerror(errno));
  _exit(kDied);
}

static long long now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static int exit_status(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// The word with the numbers put in; -1 when it does not fit.
static int put_in(const char* word, long n, long worker, char* space) {
  int length = 0;
  while (*word != '\0' && length < kArgumentMax) {
    const int is_run = strncmp(word, "{n}", 3) == 0;
    const int is_worker = strncmp(word, "{w}", 3) == 0;
    length += is_run || is_worker
                  ? snprintf(space + length, kArgumentMax - length, "%ld", is_run ? n : worker)
                  : snprintf(space + length, kArgumentMax - length, "%c", *word);
    word += is_run || is_worker ? 3 : 1;
  }
  return length < kArgumentMax ? length : -1;
}

static void number(struct Command* command, long n, long worker) {
  for (int i = 0; command->words[i] != NULL; ++i) {
    command->space[i][0] = '\0';
    if (put_in(command->words[i], n, worker, command->space[i]) < 0) {
      errno = E2BIG;
      die(command->words[i]);
    }
    command->arguments[i] = command->space[i];
  }
}

static pid_t start(struct Command* command) {
  pid_t pid = 0;
  errno = posix_spawn(&pid, command->arguments[0], &to_nowhere, NULL, command->arguments, environ);
  if (errno != 0) die(command->arguments[0]);
  return pid;
}

static void alternate(int count, long first, long rounds) {
  // Round 0 is not reported: it brings back what whoever called us pushed out of the caches.
  for (long round = 0; round <= rounds; ++round) {
    for (int i = 0; i < count; ++i) {
      int status = 0;
      struct rusage usage;
      number(&commands[i], first + round, 0);
      const long long begin = now_ns();
      const pid_t pid = start(&commands[i]);
      if (wait4(pid, &status, 0, &usage) != pid) die("wait4");
      const long long end = now_ns();
      if (round == 0 && exit_status(status) == 0) continue;
      printf("%d %lld %ld %d\n", i, end - begin, usage.ru_maxrss, exit_status(status));
    }
  }
}

// Forks a child that reports to `ready` and goes on when `go` is closed. Says 0 in the child.
static pid_t fork_at_barrier(int ready[2], int go[2]) {
  const pid_t pid = fork();
  if (pid < 0) die("fork");
  if (pid > 0) return pid;
  char byte = 0;
  close(go[1]);
  if (write(ready[1], &byte, 1) != 1 || read(go[0], &byte, 1) != 0) die("barrier");
  return 0;
}

// Closes the barrier's last end once all are there; says when that was.
static long long open_barrier(int ready[2], int go[2], long count) {
  char byte = 0;
  for (long i = 0; i < count; ++i) {
    if (read(ready[0], &byte, 1) != 1) die("barrier");
  }
  const long long begin = now_ns();
  close(go[1]);
  return begin;
}

static void make_barrier(int ready[2], int go[2]) {
  if (pipe2(ready, O_CLOEXEC) != 0 || pipe2(go, O_CLOEXEC) != 0) die("pipe");
}

// How many runs failed.
static int run_loop(long first, long each, long worker) {
  int failed = 0;
  for (long i = 0; i < each; ++i) {
    int status = 0;
    number(&commands[0], first + i, worker);
    if (waitpid(start(&commands[0]), &status, 0) < 0) die("waitpid");
    if (exit_status(status) != 0) ++failed;
  }
  return failed;
}

static void parallel(long first, long workers, long each) {
  int ready[2];
  int go[2];
  make_barrier(ready, go);
  for (long i = 0; i < workers; ++i) {
    if (fork_at_barrier(ready, go) == 0) _exit(run_loop(first + i * each, each, i));
  }
  const long long begin = open_barrier(ready, go, workers);
  long peak_kib = 0;
  int failed = 0;
  for (long i = 0; i < workers; ++i) {
    int status = 0;
    struct rusage usage;  // of the worker and all it waited for: the largest of them
    if (wait4(-1, &status, 0, &usage) < 0) die("wait4");
    if (usage.ru_maxrss > peak_kib) peak_kib = usage.ru_maxrss;
    if (exit_status(status) > kEachMax || !WIFEXITED(status)) die("a loop");
    failed += WEXITSTATUS(status);
  }
  printf("0 %lld %ld %d\n", now_ns() - begin, peak_kib, failed);
}

static void stampede(long first, long count) {
  static struct {
    long long end;
    long peak_kib;
    int status;
  } seen[kProcessesMax];
  int ready[2];
  int go[2];
  make_barrier(ready, go);
  const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (long i = 0; i < count; ++i) {
    number(&commands[0], first + i, i);
    if (fork_at_barrier(ready, go) != 0) continue;
    if (dup2(nowhere, 1) < 0 || dup2(nowhere, 2) < 0) die("dup2");
    execv(commands[0].arguments[0], commands[0].arguments);
    _exit(127);
  }
  const long long begin = open_barrier(ready, go, count);
  for (long i = 0; i < count; ++i) {
    struct rusage usage;
    if (wait4(-1, &seen[i].status, 0, &usage) < 0) die("wait4");
    seen[i].end = now_ns();
    seen[i].peak_kib = usage.ru_maxrss;
  }
  for (long i = 0; i < count; ++i) {
    printf("0 %lld %ld %d\n", seen[i].end - begin, seen[i].peak_kib, exit_status(seen[i].status));
  }
}

static int split_commands(char** words) {
  int count = 0;
  int length = 0;
  for (; *words != NULL; ++words) {
    if (strcmp(*words, ":::") == 0) {
      ++count;
      length = 0;
      continue;
    }
    if (count >= kCommandsMax || length >= kArgumentsMax) return 0;
    commands[count].words[length++] = *words;
  }
  return count + 1;
}

static long number_argument(const char* text, long most) {
  char* end = NULL;
  const long value = strtol(text, &end, 10);
  if (*text == '\0' || *end != '\0' || value < 0 || value > most) {
    fprintf(stderr, "stopwatch: not a number from 0 to %ld: %s\n", most, text);
    _exit(64);
  }
  return value;
}

int main(int argc, char** argv) {
  const long runs_max = 100 * 1000 * 1000;
  const char* mode = argc > 1 ? argv[1] : "";
  const int numbers = strcmp(mode, "parallel") == 0 ? 3 : 2;
  const int count = argc > 2 + numbers ? split_commands(argv + 2 + numbers) : 0;
  if (count == 0) {
    fputs("usage: stopwatch alternate|parallel|stampede FIRST NUMBER… CMD…\n", stderr);
    return 64;
  }
  posix_spawn_file_actions_init(&to_nowhere);
  posix_spawn_file_actions_addopen(&to_nowhere, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&to_nowhere, 1, 2);

  const long first = number_argument(argv[2], runs_max);
  if (strcmp(mode, "alternate") == 0) {
    alternate(count, first, number_argument(argv[3], runs_max));
  } else if (strcmp(mode, "parallel") == 0) {
    parallel(first, number_argument(argv[3], kProcessesMax), number_argument(argv[4], kEachMax));
  } else if (strcmp(mode, "stampede") == 0) {
    stampede(first, number_argument(argv[3], kProcessesMax));
  }
  return 0;
}
