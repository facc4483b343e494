// What leaf-server needs to know of leaf.
export { LEAF_VARIABLES } from './options';
export { createProgram, FAILED, PROCESS_TERMINAL, runProgram, type Terminal, USAGE } from './program';
