// The commands of the program `headrace`, one file each.
#pragma once

#include "tools/cli/command.h"

namespace headrace::cli {

int run_node(const Arguments& arguments);
int run_pub(const Arguments& arguments);
int run_sub(const Arguments& arguments);
int run_members(const Arguments& arguments);
int run_job(const Arguments& arguments);
int run_job_add(const Arguments& arguments);
int run_job_list(const Arguments& arguments);
int run_job_show(const Arguments& arguments);

}  // namespace headrace::cli
