# What `cmake --install` puts under the prefix: the program, and what the program says about itself.
include(GNUInstallDirs)
install(TARGETS dibs)

# Written by dibs itself at install time, so that pages and completions never differ from the program they describe.
#   dibs completion SHELL   prints the completion script
#   dibs help --man DIR     writes one page a command to DIR
install(CODE "set(dibs \"$<TARGET_FILE:dibs>\")
set(staging \"${CMAKE_BINARY_DIR}/share\")")
install(CODE [[
file(REMOVE_RECURSE ${staging})
file(MAKE_DIRECTORY ${staging}/man1)
function(generate)
  execute_process(COMMAND ${dibs} ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()
generate(completion bash OUTPUT_FILE ${staging}/dibs)
generate(completion zsh OUTPUT_FILE ${staging}/_dibs)
generate(completion fish OUTPUT_FILE ${staging}/dibs.fish)
generate(help --man ${staging}/man1)
]])
install(FILES ${CMAKE_BINARY_DIR}/share/dibs DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${CMAKE_BINARY_DIR}/share/_dibs DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${CMAKE_BINARY_DIR}/share/dibs.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
install(DIRECTORY ${CMAKE_BINARY_DIR}/share/man1 DESTINATION ${CMAKE_INSTALL_MANDIR})
