/** `--process=1` marks a process that the server has started by itself. */
export const PROCESS_FLAG = '--process';
