// For tests of applications: nothing in here opens a file or a connection.
export { FakeClock } from './clock/fake-clock';
export { InMemoryIdService, type InMemoryIdServiceOptions, type FailureScope } from './testing/in-memory-id-service';
export { InMemoryWorkers, InMemoryWorkerStore, type Line } from './testing/in-memory-worker-store';
export type { InMemoryTag } from './testing/in-memory-tags';
