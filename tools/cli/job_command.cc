// `headrace job`: the commands below it.
#include "tools/cli/commands.h"

namespace headrace::cli {

int run_job(const Arguments& arguments) {
  return dispatch("job", "Durable jobs: each runs until it has one outcome.",
                  {{"add", "store a job; it will run", run_job_add},
                   {"list", "list jobs, oldest first", run_job_list},
                   {"show", "show one job", run_job_show}},
                  arguments);
}

}  // namespace headrace::cli
