// PreadEnv: the files of LevelDB as it wants them on its own system, but tables are read with
// pread.
//
// LevelDB maps up to a thousand tables into memory, and mapped pages count as resident: 700 MB
// instead of 30 for the same store. Here a table costs a file descriptor, and the table cache
// limits those. Any thread; a PreadEnv outlives the databases on it. Tests put a faulty Env over
// it: LevelDbOptions::env.
#pragma once

#include <leveldb/env.h>

#include <string>

namespace headrace {

class PreadEnv final : public leveldb::EnvWrapper {
 public:
  PreadEnv() : EnvWrapper(leveldb::Env::Default()) {}

  leveldb::Status NewRandomAccessFile(const std::string& name,
                                      leveldb::RandomAccessFile** file) override;
};

}  // namespace headrace
