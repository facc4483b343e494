/** What a process holds once all garbage is gone, and its child processes with it. Written by `probe.cjs`. */
export interface Sample {
  readonly heapBytes: number;
  readonly residentBytes: number;
  /** Open files and sockets. */
  readonly descriptors: number;
  /** What keeps the event loop alive, timers apart. */
  readonly handles: number;
  readonly timers: number;
  readonly emitters: number;
  readonly listeners: number;
  /** Those that can still be reached. */
  readonly promises: number;
  readonly children: number;
  readonly childDescriptors: number;
  readonly childResidentBytes: number;
}
