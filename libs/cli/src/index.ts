// What leaf-server needs to know of leaf.
export { LEAF_VARIABLES } from './options';
export {
  createProgram,
  errorJson,
  FAILED,
  PROCESS_TERMINAL,
  type ProgramOptions,
  runProgram,
  USAGE,
  wantsJson,
} from './program';
