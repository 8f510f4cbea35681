# cmake -DROOT=... -DOUT=... -DPLANT=file -P plant.cmake
# Writes copies of sources of Headrace with a mistake planted. The plant file says which:
#   mistake(<file under ROOT> <text that stands there> <text instead>)
file(REMOVE_RECURSE ${OUT})

function(mistake file from to)
  if(EXISTS ${OUT}/${file})
    file(READ ${OUT}/${file} text)
  else()
    file(READ ${ROOT}/${file} text)
  endif()
  string(FIND "${text}" "${from}" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "${file} has changed: bring ${PLANT} up to date. Not found:\n${from}")
  endif()
  string(REPLACE "${from}" "${to}" text "${text}")
  file(WRITE ${OUT}/${file} "${text}")
endfunction()

# Numbers may come in any order: for mistakes that take in what comes late.
function(mistake_any_order)
  mistake(core/flow/item_list.h [[
    HEADRACE_CHECK(entries_.empty() || entries_.back().id < id);
    entries_.push_back({id, std::move(value), true});]] [[
    const auto place = std::upper_bound(
        entries_.begin(), entries_.end(), id,
        [](const wire::ItemId& key, const Entry& entry) { return key < entry.id; });
    entries_.insert(place, {id, std::move(value), true});]])
endfunction()

include(${PLANT})
