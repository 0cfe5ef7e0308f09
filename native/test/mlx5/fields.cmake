# SPDX-License-Identifier: Apache-2.0
# cmake -DOUT=FILE -DTABLES="A;B" -P fields.cmake: the tables as one C++ string literal, a piece a line.
set(text "")
foreach(table ${TABLES})
  file(STRINGS "${table}" rows)
  foreach(row ${rows})
    string(REPLACE "\t" " " row "${row}")
    string(APPEND text "\"${row}\\n\"\n")
  endforeach()
endforeach()
file(WRITE "${OUT}" "${text}")
